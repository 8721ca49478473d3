/* Written by cargo xtask header; dadd32ec6669d09c */
#ifndef STIEFEL_H
#define STIEFEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 What became of a call. Everything but STIEFEL_CODE_OK and STIEFEL_CODE_NONE leaves a text for stiefel_last_error.
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
   The signal cannot be decided; stiefel_reason_name says what the reason is called.
   */
  STIEFEL_STATUS_REJECTED = 3,
} StiefelStatus;

/*
 What is done for a domain that the model was not trained on.
 */
typedef enum StiefelUnseen {
  /*
   It is refused.
   */
  STIEFEL_UNSEEN_REFUSED = 0,
  /*
   It is whitened by the mean of the training domains.
   */
  STIEFEL_UNSEEN_POOLED = 1,
  /*
   It is whitened by the mean of its own windows so far.
   */
  STIEFEL_UNSEEN_CAUSAL = 2,
} StiefelUnseen;

/*
 A model at work on a stream. It is not to be used by two threads at once.
 */
typedef struct StiefelSession StiefelSession;

/*
 How a session decides. Start from stiefel_options_default.
 */
typedef struct StiefelOptions {
  /*
   Seconds from one decision to the next; 0 where cues alone say when to decide.
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
   How many times the distance of 99 % of the training trials is unfamiliar; 0 checks nothing.
   */
  double unfamiliar;
  /*
   One of StiefelUnseen.
   */
  int unseen;
  /*
   Whether nothing is learnt from unlabelled windows.
   */
  bool freeze;
} StiefelOptions;

/*
 What the samples are. What is null or zero is as the model has it.
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
   The unit of the values, as "uV" or "V", or null.
   */
  const char *unit;
} StiefelStream;

/*
 What is said of a window or a gap. An index of -1 and a number that is NaN stand for what there is not.
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
   Why a window was rejected; 0 where it was not.
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
   Behind the last sample.
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
 The options as they are without a wish.
 */
struct StiefelOptions stiefel_options_default(void);

/*
 Opens a model file for the signal of a domain and writes the session to `session`, which stiefel_close frees. `stream` may be null, where the samples are as
 the model's training signals were; `options` may be null, for the defaults.

 # Safety
 `path` and `domain` are texts that end with a zero. `stream` and `options` are null or valid, `session` points at a place for a pointer.
 */
enum StiefelCode stiefel_open(const char *path,
                              const char *domain,
                              const struct StiefelStream *stream,
                              const struct StiefelOptions *options,
                              struct StiefelSession **session);

/*
 Frees a session. Null is left alone.

 # Safety
 `session` is null, or came from stiefel_open and was not closed; it must not be used afterwards.
 */
void stiefel_close(struct StiefelSession *session);

/*
 How many values a sample has; 0 of null.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
size_t stiefel_channels(const struct StiefelSession *session);

/*
 How many classes there are; 0 of null.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
size_t stiefel_classes(const struct StiefelSession *session);

/*
 The name of a class, or null where there is none. It lives as long as the session.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
const char *stiefel_class_name(const struct StiefelSession *session, size_t index);

/*
 What had to be assumed of the stream, a sentence per line, or null of null. It lives as long as the session.

 # Safety
 `session` is null, or came from stiefel_open and was not closed.
 */
const char *stiefel_notes(const struct StiefelSession *session);

/*
 Takes in samples: all channels of the first, then of the second, and so on. `times` has a stamp in seconds for every sample, or is null where none is missing.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `samples` points at `sample_count * channel_count` numbers, `times` is null
 or points at `sample_count`.
 */
enum StiefelCode stiefel_push(struct StiefelSession *session,
                              const double *samples,
                              size_t sample_count,
                              size_t channel_count,
                              const double *times);

/*
 A cue at a sample, counted from the first one that was pushed; it is heard with the next push. Labels are those of the training events, or names of classes.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `label` is a text that ends with a zero.
 */
enum StiefelCode stiefel_mark(struct StiefelSession *session,
                              int64_t sample,
                              const char *label);

/*
 The stream was lost: at least one sample is missing before the next one.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread.
 */
enum StiefelCode stiefel_interrupt(struct StiefelSession *session);

/*
 Whether what is learnt from unlabelled windows stays as it is from now on.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread.
 */
enum StiefelCode stiefel_freeze(struct StiefelSession *session, bool frozen);

/*
 Takes the oldest decision that waits; STIEFEL_CODE_NONE where none does. `probabilities` and `evidence` may be null, and otherwise have `class_count` places.

 # Safety
 `session` came from stiefel_open, was not closed and is used by no other thread. `decision` points at a structure, the arrays are null or have
 `class_count` places each, and none overlaps another.
 */
enum StiefelCode stiefel_take(struct StiefelSession *session,
                              struct StiefelDecision *decision,
                              double *probabilities,
                              double *evidence,
                              size_t class_count);

/*
 The name of a reason why a window was rejected, or null where the number stands for none. It lives for ever.
 */
const char *stiefel_reason_name(int32_t reason);

/*
 What was wrong with the last call of this thread that failed; empty where none has. It lives until the next failure of this thread.
 */
const char *stiefel_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STIEFEL_H */
