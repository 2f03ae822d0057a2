// Package logstore keeps the output of one attempt of one replica in plain
// files and reads it back by time, line or tail without reading what is before.
//
// The folder of an attempt holds
//
//	stdout.log, stderr.log  the bytes as the replica wrote them
//	log.idx                 when they came and in which order (see below)
//	log.lost                one JSON object a line: what could not be written; only if something was lost
//	log.gone                with a size limit: how much of the beginning was trimmed
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
//
// log.gone is 88 bytes, little-endian, made before the index and rewritten in
// place before anything is trimmed (see CreateLimited):
//
//	"TXGONE01", limit in bytes, records that are gone; for stdout and for stderr each:
//	first kept byte, newlines before it, unix ns of the last byte before it; and
//	which of the two (bits 0 and 1) is cut within a line
//
// What is gone reads as zeroes: holes, not shorter files. A reader looks at
// log.gone again after every read, and drops what may have been a hole. The
// index is cut like a stream when it passes the limit itself.
package logstore
