/* Opens a model, pushes the samples of a file in blocks of 37, and prints what is decided; before, everything that must be refused is.
   decide MODEL SAMPLES CUE_SAMPLE CUE_LABEL */
#include "stiefel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 37

static void expect(StiefelCode found, StiefelCode wanted, const char *text, int line) {
    if (found != wanted || (text != NULL && strstr(stiefel_last_error(), text) == NULL)) {
        fprintf(stderr, "line %d: code %d where %d was expected: %s\n", line, (int)found, (int)wanted, stiefel_last_error());
        exit(1);
    }
}
#define EXPECT(call, wanted, text) expect((call), (wanted), (text), __LINE__)

static void refusals(const char *model) {
    StiefelSession *session = (StiefelSession *)1;
    StiefelOptions options = stiefel_options_default();
    StiefelStream stream = {NULL, 0, 0.0, NULL};
    StiefelDecision decision;
    const char *two[] = {"C3", "C4"}, *gap[] = {"C3", NULL};
    double value = 0.0;

    EXPECT(stiefel_open(NULL, "S01", NULL, NULL, &session), STIEFEL_CODE_NULL, "path is null");
    if (session != NULL) exit(2);
    EXPECT(stiefel_open(model, NULL, NULL, NULL, &session), STIEFEL_CODE_NULL, "domain is null");
    EXPECT(stiefel_open(model, "S01", NULL, NULL, NULL), STIEFEL_CODE_NULL, "place for the session");
    EXPECT(stiefel_open("nowhere.stiefel", "S01", NULL, NULL, &session), STIEFEL_CODE_FILE, "nowhere.stiefel");
    EXPECT(stiefel_open(model, "\xff\xfe", NULL, NULL, &session), STIEFEL_CODE_TEXT, "UTF-8");
    EXPECT(stiefel_open(model, "nobody", NULL, NULL, &session), STIEFEL_CODE_SETTING, "nobody");
    options.adapt = 77;
    EXPECT(stiefel_open(model, "nobody", NULL, &options, &session), STIEFEL_CODE_SETTING, "77");
    options.adapt = STIEFEL_ADAPT_CAUSAL;
    EXPECT(stiefel_open(model, "S01", NULL, &options, &session), STIEFEL_CODE_SETTING, "was trained on");
    options = stiefel_options_default();
    options.hop = -1.0;
    EXPECT(stiefel_open(model, "S01", NULL, &options, &session), STIEFEL_CODE_SETTING, "hop");
    options.hop = NAN;
    EXPECT(stiefel_open(model, "S01", NULL, &options, &session), STIEFEL_CODE_SETTING, "hop");
    stream.rate = 250.0;
    EXPECT(stiefel_open(model, "S01", &stream, NULL, &session), STIEFEL_CODE_MISMATCH, "250 Hz");
    stream.rate = 0.0;
    stream.unit = "kelvin";
    EXPECT(stiefel_open(model, "S01", &stream, NULL, &session), STIEFEL_CODE_MISMATCH, "kelvin");
    stream.unit = NULL;
    stream.channels = two;
    stream.channel_count = 2;
    EXPECT(stiefel_open(model, "S01", &stream, NULL, &session), STIEFEL_CODE_MISMATCH, "there is no channel");
    stream.channels = gap;
    EXPECT(stiefel_open(model, "S01", &stream, NULL, &session), STIEFEL_CODE_NULL, "name of a channel");
    stream.channels = NULL;
    EXPECT(stiefel_open(model, "S01", &stream, NULL, &session), STIEFEL_CODE_SIZE, "names of the channels");

    EXPECT(stiefel_push(NULL, &value, 1, 1, NULL), STIEFEL_CODE_NULL, "session is null");
    EXPECT(stiefel_take(NULL, &decision, NULL, NULL, 0), STIEFEL_CODE_NULL, "session is null");
    EXPECT(stiefel_mark(NULL, 0, "hand"), STIEFEL_CODE_NULL, "session is null");
    EXPECT(stiefel_freeze(NULL, true), STIEFEL_CODE_NULL, "session is null");
    EXPECT(stiefel_interrupt(NULL), STIEFEL_CODE_NULL, "session is null");
    stiefel_close(NULL);
    if (stiefel_channels(NULL) != 0 || stiefel_classes(NULL) != 0 || stiefel_class_name(NULL, 0) != NULL || stiefel_notes(NULL) != NULL) exit(2);
    if (stiefel_reason_name(0) != NULL || stiefel_reason_name(-1) != NULL || stiefel_reason_name(1000) != NULL) exit(2);
    if (strcmp(stiefel_reason_name(1), "gap") != 0) exit(2);

    EXPECT(stiefel_open(model, "S01", NULL, NULL, &session), STIEFEL_CODE_OK, NULL);
    EXPECT(stiefel_push(session, NULL, 1, stiefel_channels(session), NULL), STIEFEL_CODE_NULL, "array of samples");
    EXPECT(stiefel_push(session, &value, 1, 1, NULL), STIEFEL_CODE_SIZE, "1 channels were pushed");
    EXPECT(stiefel_push(session, &value, (size_t)-1, stiefel_channels(session), NULL), STIEFEL_CODE_SIZE, "more than memory");
    EXPECT(stiefel_push(session, NULL, 0, stiefel_channels(session), NULL), STIEFEL_CODE_OK, NULL);
    EXPECT(stiefel_take(session, NULL, NULL, NULL, 0), STIEFEL_CODE_NULL, "place for the decision");
    EXPECT(stiefel_take(session, &decision, &value, NULL, 1), STIEFEL_CODE_SIZE, "classes");
    EXPECT(stiefel_take(session, &decision, NULL, NULL, 0), STIEFEL_CODE_NONE, NULL);
    EXPECT(stiefel_mark(session, 0, NULL), STIEFEL_CODE_NULL, "label is null");
    if (stiefel_class_name(session, 1000) != NULL) exit(2);
    stiefel_close(session);
}

int main(int count, char **words) {
    if (count != 5) return 2;
    refusals(words[1]);

    StiefelSession *session = NULL;
    EXPECT(stiefel_open(words[1], "S01", NULL, NULL, &session), STIEFEL_CODE_OK, NULL);
    size_t channels = stiefel_channels(session), classes = stiefel_classes(session);
    double *block = malloc(BLOCK * channels * sizeof *block), *p = malloc(classes * sizeof *p), *e = malloc(classes * sizeof *e);
    FILE *samples = fopen(words[2], "rb");
    if (block == NULL || p == NULL || e == NULL || samples == NULL) return 3;
    EXPECT(stiefel_mark(session, atol(words[3]), words[4]), STIEFEL_CODE_OK, NULL);

    size_t values;
    while ((values = fread(block, sizeof *block, BLOCK * channels, samples)) > 0) {
        StiefelDecision decision;
        EXPECT(stiefel_push(session, block, values / channels, channels, NULL), STIEFEL_CODE_OK, NULL);
        while (stiefel_take(session, &decision, p, e, classes) == STIEFEL_CODE_OK) {
            const char *reason = stiefel_reason_name(decision.reason), *class = NULL;
            if (decision.class_index >= 0) class = stiefel_class_name(session, (size_t)decision.class_index);
            printf("%lld %lld %d %s %s %d %.17g %.17g %.17g\n", (long long)decision.start, (long long)decision.end, (int)decision.status,
                   reason ? reason : "-", class ? class : "-", decision.truth_index, p[classes - 1], e[classes - 1], decision.familiarity);
        }
    }
    fclose(samples);
    free(block);
    free(p);
    free(e);
    stiefel_close(session);
    return 0;
}
