/* Run-length coding: each run of equal bytes as the byte and how many there are, and back. */
#ifndef PROGRAMS_RUNLENGTH_H
#define PROGRAMS_RUNLENGTH_H

#include <sinter/sinter.h>

#define RUNLENGTH_ENCODE_SIGNATURE "[n]u8 -> [runs]u8, [runs]i64"
#define RUNLENGTH_DECODE_SIGNATURE "[runs]u8, [runs]i64 -> [n]u8"

static sn_scalar runlength_begins(void *bytes, sn_scalar i, sn_scalar x)
{
    return sn_or(sn_eq(i, 0), sn_ne(x, sn_index(*(sn_acc *)bytes, sn_max(sn_sub(i, 1), 0))));
}

struct runlength_firsts {
    sn_acc first;
    sn_scalar end;
};

/* From where run k begins to where the next one does. */
static sn_scalar runlength_length(void *env, sn_scalar k, sn_scalar first)
{
    const struct runlength_firsts *runs = env;
    sn_scalar next = sn_add(k, 1);
    return sn_sub(sn_if(sn_lt(next, sn_size(runs->first)), sn_index(runs->first, next), runs->end), first);
}

static sn_acc runlength_encode(sn_acc bytes)
{
    sn_acc begins = sn_imap(sn_closure(runlength_begins, &bytes), bytes);
    struct runlength_firsts runs = {sn_pack(begins, sn_iota(sn_size(bytes))), sn_size(bytes)};
    return sn_results(sn_pack(begins, bytes), sn_imap(sn_closure(runlength_length, &runs), runs.first));
}

/* Runs are segments: lengths below 0 are refused. */
static sn_acc runlength_decode(sn_acc bytes, sn_acc lengths)
{
    return sn_replicate_seg(sn_the(sn_sum(lengths)), lengths, bytes);
}

#endif
