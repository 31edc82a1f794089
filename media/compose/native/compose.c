/* The pictures of the composer as a Node-API addon. A decoder or an encoder is an external value. A canvas is
 * three arguments: its bytes, width and height. Wrong arguments throw. What a frame contains never throws: its
 * result is a number. */
#define NAPI_VERSION 8
#include "pictures.h"
#include <node_api.h>
#include <stdlib.h>

/* VERSION must be raised with every change of the functions for JavaScript. */
enum { VERSION = 1, MOST_ARGUMENTS = 7 };

typedef enum { DECODER = 0x64656331, ENCODER = 0x656e6331 } kind;

/* `is_open` is false after release(). */
typedef struct {
  kind kind;
  bool is_open;
  union {
    decoder decoder;
    encoder encoder;
  };
} handle;

typedef struct {
  napi_env env;
  size_t count;
  napi_value values[MOST_ARGUMENTS];
  bool is_wrong;
} arguments;

static napi_value number(napi_env env, double value) {
  napi_value made = NULL;
  return napi_create_double(env, value, &made) == napi_ok ? made : NULL;
}

/* Reads the arguments; the reading functions below mark wrong ones. */
static arguments read(napi_env env, napi_callback_info info) {
  arguments a = {.env = env, .count = MOST_ARGUMENTS};
  if (napi_get_cb_info(env, info, &a.count, a.values, NULL, NULL) != napi_ok) a.is_wrong = true;
  if (a.count > MOST_ARGUMENTS) a.count = MOST_ARGUMENTS;
  return a;
}

static double real(arguments *a, size_t at) {
  double value = 0;
  if (at >= a->count || napi_get_value_double(a->env, a->values[at], &value) != napi_ok) a->is_wrong = true;
  return value;
}

/* Conversions by Node-API wrap or round: only integers of 32 bits pass. */
static int32_t integer(arguments *a, size_t at) {
  double value = real(a, at);
  if (!(value >= INT32_MIN && value <= INT32_MAX) || value != (double)(int32_t)value) {
    a->is_wrong = true;
    return 0;
  }
  return (int32_t)value;
}

static bool boolean(arguments *a, size_t at) {
  bool value = false;
  if (at >= a->count || napi_get_value_bool(a->env, a->values[at], &value) != napi_ok) a->is_wrong = true;
  return value;
}

static handle *external(arguments *a, size_t at, kind wanted) {
  void *found = NULL;
  napi_valuetype type = napi_undefined;
  if (at < a->count && napi_typeof(a->env, a->values[at], &type) == napi_ok && type == napi_external)
    napi_get_value_external(a->env, a->values[at], &found);
  handle *h = found;
  if (h && h->is_open && h->kind == wanted) return h;
  a->is_wrong = true;
  return NULL;
}

/* Reads a typed array of a type; an empty or detached one is wrong. */
static void *array(arguments *a, size_t at, napi_typedarray_type wanted, size_t *length) {
  void *data = NULL;
  napi_typedarray_type type = napi_int8_array;
  bool is_array = false;
  if (at < a->count && napi_is_typedarray(a->env, a->values[at], &is_array) == napi_ok && is_array &&
      napi_get_typedarray_info(a->env, a->values[at], &type, length, &data, NULL, NULL) == napi_ok &&
      type == wanted && data && *length > 0)
    return data;
  *length = 0;
  a->is_wrong = true;
  return NULL;
}

static canvas canvas_at(arguments *a, size_t at) {
  canvas c = {0};
  c.bytes = array(a, at, napi_uint8_array, &c.length);
  c.width = integer(a, at + 1);
  c.height = integer(a, at + 2);
  return c;
}

/* An Int32Array of x, y, width and height. */
static rectangle place(arguments *a, size_t at) {
  size_t length = 0;
  const int32_t *sides = array(a, at, napi_int32_array, &length);
  if (length == 4) return (rectangle){sides[0], sides[1], sides[2], sides[3]};
  a->is_wrong = true;
  return (rectangle){0};
}

static napi_value refuse(napi_env env) {
  napi_throw_type_error(env, "ERR_INVALID_ARG", "an argument is wrong, or a handle is released");
  return NULL;
}

static napi_value fail(napi_env env, result why) {
  if (why == INVALID) napi_throw_range_error(env, "ERR_OUT_OF_RANGE", "a size, place, rate or time is out of range");
  else napi_throw_error(env, "ERR_FAILED", "the library reported an error");
  return NULL;
}

static void close_handle(handle *h) {
  if (!h->is_open) return;
  h->is_open = false;
  if (h->kind == DECODER) decoder_close(&h->decoder);
  else encoder_close(&h->encoder);
}

static void on_collected(napi_env env, void *data, void *hint) {
  (void)env, (void)hint;
  close_handle(data);
  free(data);
}

/* Makes the value of an opened handle. */
static napi_value wrap(napi_env env, handle *h, result opened) {
  napi_value made = NULL;
  h->is_open = opened == PICTURE;
  if (h->is_open && napi_create_external(env, h, on_collected, NULL, &made) == napi_ok) return made;
  on_collected(env, h, NULL);
  return fail(env, opened == PICTURE ? FAILED : opened);
}

static handle *new_handle(kind kind) {
  handle *h = calloc(1, sizeof *h);
  if (h) h->kind = kind;
  return h;
}

/* decoder() */
static napi_value make_decoder(napi_env env, napi_callback_info info) {
  (void)info;
  handle *h = new_handle(DECODER);
  return h ? wrap(env, h, decoder_open(&h->decoder)) : fail(env, FAILED);
}

/* encoder(width, height, kbps, speed) */
static napi_value make_encoder(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  encoding how = {integer(&a, 0), integer(&a, 1), integer(&a, 2), integer(&a, 3)};
  if (a.is_wrong) return refuse(env);
  handle *h = new_handle(ENCODER);
  return h ? wrap(env, h, encoder_open(&h->encoder, how)) : fail(env, FAILED);
}

/* release(handle): frees the memory at once. The garbage collector does it later otherwise. */
static napi_value release(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  void *found = NULL;
  napi_valuetype type = napi_undefined;
  if (a.count < 1 || napi_typeof(env, a.values[0], &type) != napi_ok || type != napi_external ||
      napi_get_value_external(env, a.values[0], &found) != napi_ok || !found)
    return refuse(env);
  close_handle(found);
  return NULL;
}

/* decode(decoder, frame): returns a `result`. */
static napi_value decode(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  handle *d = external(&a, 0, DECODER);
  size_t length = 0;
  const uint8_t *frame = array(&a, 1, napi_uint8_array, &length);
  if (a.is_wrong) return refuse(env);
  result got = decoder_decode(&d->decoder, frame, length);
  if (got != FAILED) return number(env, got);
  close_handle(d);
  return fail(env, got);
}

/* sizeOf(decoder): returns width * 65536 + height of the picture; 0 without one. */
static napi_value size_of(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  handle *d = external(&a, 0, DECODER);
  if (a.is_wrong) return refuse(env);
  const vpx_image_t *image = d->decoder.image;
  return number(env, image ? image->d_w * 65536.0 + image->d_h : 0);
}

static napi_value checked(napi_env env, result got) {
  return got == PICTURE || got == NOTHING ? number(env, got) : fail(env, got);
}

/* fill(canvas, rectangle, colour): the colour is an Uint8Array of y, u and v. */
static napi_value fill(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  canvas c = canvas_at(&a, 0);
  rectangle at = place(&a, 3);
  size_t length = 0;
  const uint8_t *colour = array(&a, 4, napi_uint8_array, &length);
  return a.is_wrong || length != 3 ? refuse(env) : checked(env, canvas_fill(&c, at, colour));
}

/* draw(canvas, rectangle, decoder): returns a `result`. */
static napi_value draw(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  canvas c = canvas_at(&a, 0);
  rectangle at = place(&a, 3);
  handle *d = external(&a, 4, DECODER);
  return a.is_wrong ? refuse(env) : checked(env, canvas_draw(&c, at, &d->decoder));
}

/* scale(to, from): canvases. */
static napi_value scale(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  canvas to = canvas_at(&a, 0), from = canvas_at(&a, 3);
  return a.is_wrong ? refuse(env) : checked(env, canvas_scale(&to, &from));
}

/* encode(encoder, canvas, timestamp, key, to): returns the bytes written to `to`; 0 for a dropped frame. */
static napi_value encode(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  handle *e = external(&a, 0, ENCODER);
  canvas c = canvas_at(&a, 1);
  double timestamp = real(&a, 4);
  bool key = boolean(&a, 5);
  size_t room = 0, length = 0;
  uint8_t *to = array(&a, 6, napi_uint8_array, &room);
  if (a.is_wrong || !(timestamp >= 0 && timestamp <= 9e15)) return refuse(env);
  result got = encoder_encode(&e->encoder, &c, (int64_t)timestamp, key, to, room, &length);
  return got == PICTURE || got == NOTHING ? number(env, got == PICTURE ? (double)length : 0) : fail(env, got);
}

/* setRate(encoder, kbps) */
static napi_value set_rate(napi_env env, napi_callback_info info) {
  arguments a = read(env, info);
  handle *e = external(&a, 0, ENCODER);
  int32_t kbps = integer(&a, 1);
  return a.is_wrong ? refuse(env) : checked(env, encoder_rate(&e->encoder, kbps));
}

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback run;
  } functions[] = {
      {"decoder", make_decoder}, {"encoder", make_encoder}, {"release", release}, {"decode", decode},
      {"sizeOf", size_of},       {"fill", fill},            {"draw", draw},       {"scale", scale},
      {"encode", encode},        {"setRate", set_rate},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value made;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].run, NULL, &made);
    napi_set_named_property(env, exports, functions[i].name, made);
  }
  napi_set_named_property(env, exports, "version", number(env, VERSION));
  return exports;
}
