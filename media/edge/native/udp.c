/* The UDP sockets of a media thread as a Node-API addon. A wake-up of the thread receives one packet from
 * each readable socket and calls JavaScript once for all of them. Packets to send leave at the end of that
 * call. Every thread that loads the addon has its own hub. Network input never throws: errors are counted.
 * The addon also gives a thread real-time priority. */
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include "sockets.h"
#include <errno.h>
#include <node_api.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The used part of libuv, whose ABI is stable over version 1. Node exports it, but not every Node comes with
 * its header. */
typedef struct uv_loop_s uv_loop_t;
typedef struct uv_handle_s uv_handle_t;
enum { UV_POLL_TYPE = 8, UV_TIMER_TYPE = 13, UV_READABLE_EVENT = 1 };
extern size_t uv_handle_size(int type);
extern const char *uv_handle_type_name(int type);
extern void *uv_handle_get_data(const uv_handle_t *);
extern void uv_handle_set_data(uv_handle_t *, void *);
extern int uv_poll_init(uv_loop_t *, uv_handle_t *, int fd);
extern int uv_poll_start(uv_handle_t *, int events, void (*)(uv_handle_t *, int status, int events));
extern int uv_poll_stop(uv_handle_t *);
extern int uv_timer_init(uv_loop_t *, uv_handle_t *);
extern int uv_timer_start(uv_handle_t *, void (*)(uv_handle_t *), uint64_t ms, uint64_t repeat_ms);
extern int uv_timer_stop(uv_handle_t *);
extern uint64_t uv_hrtime(void);
extern void uv_close(uv_handle_t *, void (*)(uv_handle_t *));
extern void uv_ref(uv_handle_t *);
extern void uv_unref(uv_handle_t *);
extern char *uv_err_name_r(int error, char *name, size_t length);
extern char *uv_strerror_r(int error, char *text, size_t length);

/* A wake-up costs more than a packet. After two wake-ups within PACE_MS the sockets are therefore polled
 * every PACE_MS instead of watched, until MOST_EMPTY polls in a row find no packet. A packet waits at most
 * PACE_MS, plus the timer's lateness. */
enum { PACE_MS = 1, MOST_EMPTY = 3, MOST_ROUNDS = 4 };

typedef struct {
  napi_env env;
  napi_ref on_batch, resource, memory;
  napi_async_context context;
  napi_async_cleanup_hook_handle cleanup;
  uv_handle_t *poll, *timer;
  uint64_t woken; /* time of the last wake-up, in ns */
  int empty, closing;
  sockets sockets;
} hub;

static napi_value fail(napi_env env, const char *code, const char *message) {
  napi_throw_error(env, code, message);
  return NULL;
}

static napi_value fail_errno(napi_env env, int error) {
  char code[32], message[128];
  return fail(env, uv_err_name_r(-error, code, sizeof code), uv_strerror_r(-error, message, sizeof message));
}

/* Returns the arguments of a call and the thread's hub; NULL with a pending exception before start(). */
static hub *arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values) {
  void *h = NULL;
  napi_get_cb_info(env, info, &count, values, NULL, NULL);
  napi_get_instance_data(env, &h);
  if (!h) fail(env, "ERR_NOT_STARTED", "start() first");
  return h;
}

static napi_value number(napi_env env, double value) {
  napi_value made = NULL;
  return napi_create_double(env, value, &made) == napi_ok ? made : NULL;
}

static int parse(napi_env env, napi_value value, entry *out) {
  char text[ADDRESS_TEXT + 1];
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, text, sizeof text, &length) != napi_ok) return 0;
  return length < ADDRESS_TEXT && strlen(text) == length ? address_read(text, out) : 0;
}

/* Calls JavaScript with the number of packets. An exception ends the thread, as in any other callback. */
static void deliver(hub *h, int count) {
  napi_handle_scope scope;
  if (napi_open_handle_scope(h->env, &scope) != napi_ok) return;
  napi_value resource, on_batch, error, argument = number(h->env, count);
  napi_get_reference_value(h->env, h->resource, &resource);
  napi_get_reference_value(h->env, h->on_batch, &on_batch);
  if (napi_make_callback(h->env, h->context, resource, on_batch, 1, &argument, NULL) == napi_pending_exception &&
      napi_get_and_clear_last_exception(h->env, &error) == napi_ok)
    napi_fatal_exception(h->env, error);
  napi_close_handle_scope(h->env, scope);
}

/* Receives and delivers waiting packets, within bounds. Returns their number. */
static int serve(hub *h) {
  int all = 0, count = SLOTS;
  for (int round = 0; round < MOST_ROUNDS && count == SLOTS; round++) {
    count = sockets_receive(&h->sockets);
    if (count > 0) deliver(h, count);
    all += count;
  }
  return all;
}

static void on_readable(uv_handle_t *poll, int status, int events);

static void on_pace(uv_handle_t *timer) {
  hub *h = uv_handle_get_data(timer);
  h->empty = serve(h) > 0 ? 0 : h->empty + 1;
  if (h->empty < MOST_EMPTY) return;
  uv_timer_stop(timer);
  uv_poll_start(h->poll, UV_READABLE_EVENT, on_readable);
}

static void on_readable(uv_handle_t *poll, int status, int events) {
  hub *h = uv_handle_get_data(poll);
  if (status < 0 || !(events & UV_READABLE_EVENT)) return;
  uint64_t now = uv_hrtime();
  bool again = now - h->woken < PACE_MS * 1000000;
  h->woken = now;
  serve(h);
  if (!again) return;
  h->empty = 0;
  uv_poll_stop(poll);
  uv_timer_start(h->timer, on_pace, PACE_MS, PACE_MS);
}

/* bind(address, port): returns the handle of a new socket. Throws the system's error, with its name as
 * `code`. */
static napi_value bind_socket(napi_env env, napi_callback_info info) {
  napi_value values[2];
  hub *h = arguments(env, info, 2, values);
  if (!h) return NULL;
  entry at = {0};
  int32_t handle = -1;
  int family = parse(env, values[0], &at);
  if (!family || napi_get_value_int32(env, values[1], &at.port) != napi_ok || at.port < 0 || at.port > 0xffff)
    return fail_errno(env, EINVAL);
  int error = sockets_open(&h->sockets, &at, family == 6, &handle);
  if (error) return fail_errno(env, error);
  uv_ref(h->poll);
  uv_ref(h->timer);
  return number(env, handle);
}

/* portOf(handle): returns the local port; 0 for a closed socket. */
static napi_value port_of(napi_env env, napi_callback_info info) {
  napi_value argument;
  int32_t handle = -1;
  hub *h = arguments(env, info, 1, &argument);
  if (!h || napi_get_value_int32(env, argument, &handle) != napi_ok) return NULL;
  return number(env, sockets_port(&h->sockets, handle));
}

/* close(handle): no effect on a closed socket. */
static napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value argument;
  int32_t handle = -1;
  hub *h = arguments(env, info, 1, &argument);
  if (!h || napi_get_value_int32(env, argument, &handle) != napi_ok) return NULL;
  sockets_close(&h->sockets, handle);
  if (h->sockets.open > 0) return NULL;
  uv_unref(h->poll);
  uv_unref(h->timer);
  return NULL;
}

/* flush(count): sends the first entries of `sends`. */
static napi_value flush(napi_env env, napi_callback_info info) {
  napi_value argument;
  uint32_t count = 0;
  hub *h = arguments(env, info, 1, &argument);
  if (h && napi_get_value_uint32(env, argument, &count) == napi_ok) sockets_send(&h->sockets, count);
  return NULL;
}

/* pack(address): writes an IP literal's address and scope to the scratch entry. Returns 4, 6, or 0 if
 * invalid. */
static napi_value pack(napi_env env, napi_callback_info info) {
  napi_value argument;
  hub *h = arguments(env, info, 1, &argument);
  return h ? number(env, parse(env, argument, &h->sockets.shared->scratch)) : NULL;
}

/* unpack(v6): returns the scratch entry's address as text. */
static napi_value unpack(napi_env env, napi_callback_info info) {
  napi_value argument, made = NULL;
  bool v6 = false;
  char text[ADDRESS_TEXT];
  hub *h = arguments(env, info, 1, &argument);
  if (!h || napi_get_value_bool(env, argument, &v6) != napi_ok) return NULL;
  address_write(&h->sockets.shared->scratch, v6, text);
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &made);
  return made;
}

static void on_closed(uv_handle_t *handle) {
  hub *h = uv_handle_get_data(handle);
  free(handle);
  if (--h->closing > 0) return;
  napi_remove_async_cleanup_hook(h->cleanup);
  free(h);
}

/* Cleans up when the thread ends, with or without open sockets. */
static void on_end(napi_async_cleanup_hook_handle handle, void *data) {
  hub *h = data;
  (void)handle;
  napi_set_instance_data(h->env, NULL, NULL, NULL);
  napi_async_destroy(h->env, h->context);
  uv_poll_stop(h->poll);
  uv_timer_stop(h->timer);
  sockets_end(&h->sockets);
  h->closing = 2;
  uv_close(h->poll, on_closed);
  uv_close(h->timer, on_closed);
}

/* Watches the sockets in the event loop. Keeps the loop alive while one is open. */
static int watch(hub *h, uv_loop_t *loop) {
  if (strcmp(uv_handle_type_name(UV_POLL_TYPE), "poll") != 0) return ENOSYS;
  if (strcmp(uv_handle_type_name(UV_TIMER_TYPE), "timer") != 0) return ENOSYS;
  h->poll = calloc(1, uv_handle_size(UV_POLL_TYPE));
  h->timer = calloc(1, uv_handle_size(UV_TIMER_TYPE));
  if (!h->poll || !h->timer) return ENOMEM;
  int error = -uv_poll_init(loop, h->poll, h->sockets.epoll);
  if (error) return error;
  uv_timer_init(loop, h->timer);
  uv_handle_set_data(h->poll, h);
  uv_handle_set_data(h->timer, h);
  uv_poll_start(h->poll, UV_READABLE_EVENT, on_readable);
  uv_unref(h->poll);
  uv_unref(h->timer);
  return 0;
}

static int make(napi_env env, hub *h, napi_value *memory) {
  void *data = NULL;
  uv_loop_t *loop = NULL;
  if (napi_create_arraybuffer(env, sizeof(shared), &data, memory) != napi_ok) return ENOMEM;
  if (napi_get_uv_event_loop(env, (struct uv_loop_s **)&loop) != napi_ok) return ENOSYS;
  int error = sockets_init(&h->sockets, data);
  if (error) return error;
  error = watch(h, loop);
  if (error) {
    sockets_end(&h->sockets);
    free(h->poll);
    free(h->timer);
  }
  return error;
}

/* start(onBatch): returns the shared memory. Must be called once per thread. */
static napi_value start(napi_env env, napi_callback_info info) {
  napi_value on_batch, resource, name, memory;
  napi_valuetype type = napi_undefined;
  size_t count = 1;
  void *started = NULL;
  napi_get_cb_info(env, info, &count, &on_batch, NULL, NULL);
  napi_get_instance_data(env, &started);
  if (started) return fail(env, "ERR_STARTED", "start() is for once per thread");
  if (napi_typeof(env, on_batch, &type) != napi_ok || type != napi_function) return fail_errno(env, EINVAL);
  hub *h = calloc(1, sizeof *h);
  int error = h ? make(env, h, &memory) : ENOMEM;
  if (error) {
    free(h);
    return fail_errno(env, error);
  }
  h->env = env;
  napi_create_object(env, &resource);
  napi_create_string_utf8(env, "media sockets", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, resource, name, &h->context);
  /* Never released: they live as long as the thread. */
  napi_create_reference(env, on_batch, 1, &h->on_batch);
  napi_create_reference(env, resource, 1, &h->resource);
  napi_create_reference(env, memory, 1, &h->memory);
  napi_set_instance_data(env, h, NULL, NULL);
  napi_add_async_cleanup_hook(env, on_end, h, &h->cleanup);
  return memory;
}

/* The lowest real-time priority: all other real-time threads of the machine run before the media. */
static const struct sched_param lowest = {.sched_priority = 1};

/* An operator can start the whole process with a real-time policy. It is kept then. */
static int is_realtime(int policy) {
  return (policy & ~SCHED_RESET_ON_FORK) == SCHED_FIFO || (policy & ~SCHED_RESET_ON_FORK) == SCHED_RR;
}

/* checkRealtime(): throws the system's error if enterRealtime() would. The calling thread has real-time
 * priority meanwhile. */
static napi_value check_realtime(napi_env env, napi_callback_info info) {
  struct sched_param former;
  int policy = sched_getscheduler(0);
  (void)info;
  if (policy < 0 || sched_getparam(0, &former)) return fail_errno(env, errno);
  if (is_realtime(policy)) return NULL;
  /* Only privileged processes may clear the flag, so it stays as it is. */
  if (sched_setscheduler(0, SCHED_RR | (policy & SCHED_RESET_ON_FORK), &lowest) ||
      sched_setscheduler(0, policy, &former))
    return fail_errno(env, errno);
  return NULL;
}

/* enterRealtime(): gives the calling thread real-time priority, but none of the threads that it starts.
 * Throws the system's error. */
static napi_value enter_realtime(napi_env env, napi_callback_info info) {
  int policy = sched_getscheduler(0);
  (void)info;
  if (policy >= 0 && is_realtime(policy)) return NULL;
  return sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) ? fail_errno(env, errno) : NULL;
}

NAPI_MODULE_INIT() {
  const struct { const char *name; napi_callback run; } functions[] = {
    {"start", start}, {"bind", bind_socket}, {"portOf", port_of}, {"close", close_socket},
    {"flush", flush}, {"pack", pack}, {"unpack", unpack}, {"checkRealtime", check_realtime},
    {"enterRealtime", enter_realtime},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value made;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].run, NULL, &made);
    napi_set_named_property(env, exports, functions[i].name, made);
  }
  const struct { const char *name; size_t value; } constants[] = {
    {"version", VERSION}, {"slots", SLOTS}, {"slotBytes", SLOT_BYTES}, {"entryWords", sizeof(entry) / 4},
    {"receivedAt", offsetof(shared, received)}, {"sendsAt", offsetof(shared, sends)},
    {"scratchAt", offsetof(shared, scratch)}, {"countersAt", offsetof(shared, counters)},
  };
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    napi_set_named_property(env, exports, constants[i].name, number(env, (double)constants[i].value));
  return exports;
}
