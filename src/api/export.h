/* Private to the export of programs. */
#ifndef SN_API_EXPORT_H
#define SN_API_EXPORT_H

#include "api/api.h"
#include "device/cpu_export.h"

#include <stdio.h>

typedef struct exporting {
    sn_program *p;
    api_who who;
    const char *prefix, *name; /* without folders */
    arena arena;
    bool level[CPU_LEVELS]; /* for which there is to be code */
    unsigned now;           /* the one whose kernels are being collected */
    text kernels;
    uint32_t count;
    map64 known; /* hash of a key */
    const char *why;  /* a kernel cannot be compiled; NULL: all can */
    bool no_memory;   /* to compile one */
    FILE *f;
    run_program *taken; /* whose tapes are read: nothing is recorded meanwhile */
} exporting;

/* As the signature has it. */
void export_signature(const sn_program *p, text *out);
/* PREFIX and an ending; SN_FILE, reported, if it cannot be written. */
sn_status export_file(exporting *e, const char *ending, const text *data,
                      bool (*write)(exporting *e, const text *data));

/* Sources and launches of a device behind a driver (export_source.c). */
sn_status export_sources(exporting *e);

#endif
