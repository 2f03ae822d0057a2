// Package logstore stores the output of one attempt of one replica in plain files and reads
// it by time, line or tail without reading earlier output.
//
// The folder of an attempt holds
//
//	stdout.log, stderr.log  the bytes as the replica wrote them
//	log.idx                 times and order of the chunks (see below)
//	log.lost                output that could not be written, one JSON object a line; only if some was lost
//	log.gone                with a size limit: how much of the beginning was trimmed
//
// log.idx is a 40-byte header followed by 40-byte records, little-endian:
//
//	header: "TXIDX001", lost bytes of stdout and of stderr, lost lines, unix ns of the first loss
//	record: unix ns, end of stdout, end of stderr, newlines in stdout, newlines in stderr
//
// A record holds the totals after one chunk. It extends one of the two streams, and no
// column ever decreases, so binary search finds a time or a line. Data are written before
// their record, and only the last record ever changes: a chunk that follows closely on the
// same stream updates it in place. A reader of the index therefore never sees partly written
// output.
//
// log.gone is 88 bytes, little-endian, created before the index and rewritten in place before
// anything is trimmed (see CreateLimited):
//
//	"TXGONE01", limit in bytes, number of trimmed records; for stdout and for stderr each:
//	first kept byte, newlines before it, unix ns of the last byte before it; and
//	which of the two (bits 0 and 1) starts within a line
//
// Trimmed bytes read as zeroes: they are holes, and files do not shrink. A reader reads
// log.gone again after every read and drops bytes that may have come from a hole. The index
// is trimmed like a stream when it exceeds the limit itself.
package logstore
