// Package logstore keeps the output of one attempt of one replica in plain
// files and reads it back by time, line or tail without reading what is before.
//
// The folder of an attempt holds
//
//	stdout.log, stderr.log  the bytes as the replica wrote them
//	log.idx                 when they came and in which order (see below)
//	log.lost                one JSON object a line: what could not be written; only if something was lost
//
// log.idx is a 40-byte header followed by 40-byte records, little-endian:
//
//	header: "TXIDX001", lost bytes of stdout and of stderr, lost lines, unix ns of the first loss
//	record: unix ns, end of stdout, end of stderr, newlines in stdout, newlines in stderr
//
// A record stands for one chunk: the totals after it. It grows one of the two
// streams, and no column ever goes back, so binary search finds a time or a
// line. Data are written before their record, and only the last record ever
// changes: a chunk that follows closely on the same stream amends it in place.
// A reader that keeps to the index therefore never sees half-written output.
package logstore
