/* Written by cargo xtask header; 313a0f6c5f4edacc */
#ifndef STIEFEL_H
#define STIEFEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 What became of a call. Everything but STIEFEL_CODE_OK and STIEFEL_CODE_NONE leaves a text for
 stiefel_last_error.
 */
typedef enum StiefelCode {
  /*
   It was done.
   */
  STIEFEL_CODE_OK = 0,
  /*
   No decision waits: push more samples.
   */
  STIEFEL_CODE_NONE = 1,
  /*
   A pointer that is needed is null.
   */
  STIEFEL_CODE_NULL = 2,
  /*
   A text is not UTF-8.
   */
  STIEFEL_CODE_TEXT = 3,
  /*
   The model file cannot be read.
   */
  STIEFEL_CODE_FILE = 4,
  /*
   The stream is not the one the model was trained for: channels, rate or unit.
   */
  STIEFEL_CODE_MISMATCH = 5,
  /*
   An option, or the domain, does not fit the model.
   */
  STIEFEL_CODE_SETTING = 6,
  /*
   The number of channels or of classes is wrong.
   */
  STIEFEL_CODE_SIZE = 7,
  /*
   Too many decisions wait: take them first.
   */
  STIEFEL_CODE_FULL = 8,
  /*
   Anything else that went wrong.
   */
  STIEFEL_CODE_FAILED = 9,
  /*
   A defect of the library. The session can only be closed.
   */
  STIEFEL_CODE_DEFECT = 10,
} StiefelCode;

/*
 What a decision is about.
 */
typedef enum StiefelKind {
  /*
   A window.
   */
  STIEFEL_KIND_WINDOW = 0,
  /*
   Samples that are missing: start to end.
   */
  STIEFEL_KIND_GAP = 1,
} StiefelKind;

/*
 What became of a window.
 */
typedef enum StiefelStatus {
  /*
   The model decided.
   */
  STIEFEL_STATUS_DECIDED = 0,
  /*
   No class is probable enough.
   */
  STIEFEL_STATUS_UNDECIDED = 1,
  /*
   The window is far from everything the model was trained on.
   */
  STIEFEL_STATUS_UNFAMILIAR = 2,
  /*
   The signal cannot be decided; stiefel_reason_name gives the name of the reason.
   */
  STIEFEL_STATUS_REJECTED = 3,
} StiefelStatus;

/*
 What is done for a domain that the model was not trained on.
 */
typedef enum StiefelAdapt {
  /*
   It is refused.
   */
  STIEFEL_ADAPT_REFUSED = 0,
  /*
   It is whitened by the mean of the training domains.
   */
  STIEFEL_ADAPT_POOLED = 1,
  /*
   It is whitened by the mean of its own windows so far.
   */
  STIEFEL_ADAPT_CAUSAL = 2,
} StiefelAdapt;

/*
 A model at work on a stream. It is not to be used by two threads at once.
 */
typedef struct StiefelSession StiefelSession;

/*
 How a session decides. Start from stiefel_options_default.
 */
typedef struct StiefelOptions {
  /*
   Seconds from one decision to the next; 0 if only cues say when to decide.
   */
  double hop;
  /*
   The least probability of a class for a decision; 0 for none.
   */
  double threshold;
  /*
   Time constant of the evidence over time, in seconds.
   */
  double time_constant;
  /*
   A window is unfamiliar if it is more than this many times as far from the mean as 99 % of
   the training trials are; 0 checks nothing.
   */
  double unfamiliar;
  /*
   One of StiefelAdapt.
   */
  int adapt;
  /*
   Whether nothing is learnt from unlabelled windows.
   */
  bool freeze;
} StiefelOptions;

/*
 What the samples are. A value that is null or zero is taken from the model.
 */
typedef struct StiefelStream {
  /*
   Names of the channels in the order of the values of a sample, or null.
   */
  const char *const *channels;
  /*
   How many names there are.
   */
  size_t channel_count;
  /*
   Samples per second, or 0.
   */
  double rate;
  /*
   The unit of the values, such as "uV" or "V", or null.
   */
  const char *unit;
} StiefelStream;

/*
 What is said of a window or a gap. If there is no value, an index is -1 and a number is NaN.
 */
typedef struct StiefelDecision {
  /*
   A window, or a gap.
   */
  enum StiefelKind kind;
  /*
   What became of the window.
   */
  enum StiefelStatus status;
  /*
   Why a window was rejected; 0 if it was not.
   */
  int32_t reason;
  /*
   The class that was decided.
   */
  int32_t class_index;
  /*
   The class with the most evidence over time.
   */
  int32_t stable_index;
  /*
   The class that a cue said.
   */
  int32_t truth_index;
  /*
   The first sample.
   */
  int64_t start;
  /*
   The place after the last sample.
   */
  int64_t end;
  /*
   Seconds from the start of the stream to the end of the window, or to the gap.
   */
  double time;
  /*
   The time stamp of the last sample.
   */
  double stamp;
  /*
   The share of the training trials that were nearer to the mean of their domain.
   */
  double familiarity;
  /*
   The distance to the mean of the domain.
   */
  double distance;
} StiefelDecision;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 The default options.
 */
struct StiefelOptions stiefel_options_default(void);

/*
 Opens a model file for the signal of a domain and writes the session to `session`, which
 stiefel_close frees. `stream` may be null if the samples are as the model's training signals
 were. `options` may be null for the defaults.

 # Safety
 `path` and `domain` are texts that end with a zero. `stream` and `options` are null or valid,
 `session` points at a place for a pointer.
 */
enum StiefelCode stiefel_open(const char *path,
                              const char *domain,
                              const struct StiefelStream *stream,
                              const struct StiefelOptions *options,
                              struct StiefelSession **session);

/*
 Frees a session. If it is null, nothing is done.

 # Safety
 `session` is null, or came from stiefel_open and was not closed; it must not be used afterwards.
 */
void stiefel_close(struct StiefelSession *session);

/*
 How many values a sample has; 0 if `session` is null.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
size_t stiefel_channels(const struct StiefelSession *session);

/*
 How many classes there are; 0 if `session` is null.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
size_t stiefel_classes(const struct StiefelSession *session);

/*
 The name of a class, or null if there is no such class. It lives as long as the session.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
const char *stiefel_class_name(const struct StiefelSession *session, size_t index);

/*
 What had to be assumed of the stream, one sentence per line, or null if `session` is null. It
 lives as long as the session.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
const char *stiefel_notes(const struct StiefelSession *session);

/*
 Takes in samples: all channels of the first, then of the second, and so on. `times` has a stamp
 in seconds for each sample, or is null if none is missing.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `samples`
 points at `sample_count * channel_count` numbers, `times` is null or points at `sample_count`.
 */
enum StiefelCode stiefel_push(struct StiefelSession *session,
                              const double *samples,
                              size_t sample_count,
                              size_t channel_count,
                              const double *times);

/*
 Sets a cue at a sample, counted from the first one that was pushed. The next push takes it in.
 Labels are those of the training events, or names of classes.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `label` is a
 text that ends with a zero.
 */
enum StiefelCode stiefel_mark(struct StiefelSession *session, int64_t sample, const char *label);

/*
 Says that the stream was lost: at least one sample is missing before the next one.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread.
 */
enum StiefelCode stiefel_interrupt(struct StiefelSession *session);

/*
 Sets whether what is learnt from unlabelled windows stays as it is from now on.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread.
 */
enum StiefelCode stiefel_freeze(struct StiefelSession *session, bool frozen);

/*
 Takes the oldest decision that waits; STIEFEL_CODE_NONE if none waits. `probabilities` and
 `evidence` may be null; otherwise they have `class_count` places.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `decision`
 points at a structure, the arrays are null or have `class_count` places each, and none overlaps
 another.
 */
enum StiefelCode stiefel_take(struct StiefelSession *session,
                              struct StiefelDecision *decision,
                              double *probabilities,
                              double *evidence,
                              size_t class_count);

/*
 The name of a reason why a window was rejected, or null if the number stands for no reason. It
 lives for ever.
 */
const char *stiefel_reason_name(int32_t reason);

/*
 What was wrong with the last call of this thread that failed; empty if none has failed. It lives
 until the next failure of this thread.
 */
const char *stiefel_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STIEFEL_H */
