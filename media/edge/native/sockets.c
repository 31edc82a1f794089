#define _GNU_SOURCE
#include "sockets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

typedef union {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} address;

static place *find(const sockets *s, int32_t handle) {
  int32_t index = handle & (MOST_SOCKETS - 1);
  if (handle < 0 || index >= s->size) return NULL;
  place *p = &s->places[index];
  return p->fd >= 0 && p->generation == handle >> 16 ? p : NULL;
}

int address_read(char *text, entry *out) {
  memset(out->address, 0, sizeof out->address);
  out->scope = 0;
  if (inet_pton(AF_INET, text, out->address) == 1) return 4;
  char *zone = strchr(text, '%');
  if (zone) {
    *zone++ = 0;
    out->scope = (int32_t)if_nametoindex(zone);
    if (out->scope == 0) return 0;
  }
  return inet_pton(AF_INET6, text, out->address) == 1 ? 6 : 0;
}

void address_write(const entry *from, bool v6, char text[ADDRESS_TEXT]) {
  char zone[IF_NAMESIZE];
  inet_ntop(v6 ? AF_INET6 : AF_INET, from->address, text, INET6_ADDRSTRLEN);
  if (v6 && from->scope && if_indextoname((uint32_t)from->scope, zone)) strcat(strcat(text, "%"), zone);
}

static socklen_t fill(address *out, const entry *from, bool v6) {
  memset(out, 0, sizeof *out);
  if (v6) {
    out->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)from->port)};
    out->v6.sin6_scope_id = (uint32_t)from->scope;
    memcpy(&out->v6.sin6_addr, from->address, 16);
    return sizeof out->v6;
  }
  out->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)from->port)};
  memcpy(&out->v4.sin_addr, from->address, 4);
  return sizeof out->v4;
}

static void keep(entry *out, const address *from, bool v6) {
  memset(out->address, 0, sizeof out->address);
  out->scope = v6 ? (int32_t)from->v6.sin6_scope_id : 0;
  out->port = ntohs(v6 ? from->v6.sin6_port : from->v4.sin_port);
  if (v6) memcpy(out->address, &from->v6.sin6_addr, 16);
  else memcpy(out->address, &from->v4.sin_addr, 4);
}

/* Receives one packet of one socket into the slot. Returns false if there was none that can be used. */
static bool take(const place *p, int32_t handle, shared *m, int slot) {
  address from;
  socklen_t size = sizeof from;
  memset(&from, 0, sizeof from);
  ssize_t length = recvfrom(p->fd, m->data + slot * SLOT_BYTES, SLOT_BYTES, MSG_DONTWAIT | MSG_TRUNC, &from.any, &size);
  if (length < 0) {
    if (errno != EAGAIN && errno != EINTR) m->counters[RECEIVE_ERRORS]++;
    return false;
  }
  if (length > SLOT_BYTES) {
    m->counters[TOO_LONG]++;
    return false;
  }
  entry *e = &m->received[slot];
  e->socket = handle;
  e->offset = slot * SLOT_BYTES;
  e->length = (int32_t)length;
  keep(e, &from, p->v6);
  return true;
}

/* Receives one packet of each readable socket, so that a flooded socket does not delay the others. The rest
 * follows in the next turn of the loop. */
int sockets_receive(sockets *s) {
  struct epoll_event ready[SLOTS];
  int count = 0, many = epoll_wait(s->epoll, ready, SLOTS, 0);
  for (int i = 0; i < many; i++) {
    int32_t handle = (int32_t)ready[i].data.u32;
    place *p = find(s, handle);
    if (p && take(p, handle, s->shared, count)) count++;
  }
  s->shared->counters[RECEIVED] += count;
  s->shared->counters[WAKEUPS]++;
  return count;
}

void sockets_send(sockets *s, uint32_t count) {
  shared *m = s->shared;
  for (uint32_t i = 0; i < count && i < SLOTS; i++) {
    /* A copy, so that the checked values are the used ones. */
    const entry e = m->sends[i];
    place *p = find(s, e.socket);
    bool inside = e.offset >= 0 && e.length >= 0 && (size_t)e.offset + (size_t)e.length <= sizeof m->data;
    if (!p || !inside || e.port < 1 || e.port > 0xffff) {
      m->counters[MISADDRESSED]++;
      continue;
    }
    address to;
    socklen_t size = fill(&to, &e, p->v6);
    ssize_t sent = sendto(p->fd, m->data + e.offset, (size_t)e.length, MSG_DONTWAIT | MSG_NOSIGNAL, &to.any, size);
    m->counters[sent < 0 ? SEND_ERRORS : SENT]++;
  }
}

/* Ensures a free place in the table. Returns false if it is full. */
static bool reserve(sockets *s) {
  if (s->first_free >= 0) return true;
  int32_t size = s->size ? 2 * s->size : 64;
  place *more = size > MOST_SOCKETS ? NULL : realloc(s->places, (size_t)size * sizeof *more);
  if (!more) return false;
  for (int32_t i = s->size; i < size; i++)
    more[i] = (place){.fd = -1, .next_free = i + 1 < size ? i + 1 : -1};
  s->first_free = s->size;
  s->places = more;
  s->size = size;
  return true;
}

/* Binds a socket and adds it to the epoll set under this handle. Returns its descriptor, or a negative errno. */
static int open_bound(const sockets *s, const entry *at, bool v6, int32_t handle) {
  address own;
  socklen_t size = fill(&own, at, v6);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)handle};
  int on = 1, fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  if ((v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0) || bind(fd, &own.any, size) < 0 ||
      epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

int sockets_open(sockets *s, const entry *at, bool v6, int32_t *handle) {
  if (!reserve(s)) return EMFILE;
  int32_t index = s->first_free;
  place *p = &s->places[index];
  *handle = p->generation << 16 | index;
  int fd = open_bound(s, at, v6, *handle);
  if (fd < 0) return -fd;
  s->first_free = p->next_free;
  s->open++;
  p->fd = fd;
  p->v6 = v6;
  return 0;
}

int sockets_port(const sockets *s, int32_t handle) {
  address own = {0};
  socklen_t size = sizeof own;
  const place *p = find(s, handle);
  if (!p || getsockname(p->fd, &own.any, &size) < 0) return 0;
  return ntohs(p->v6 ? own.v6.sin6_port : own.v4.sin_port);
}

bool sockets_close(sockets *s, int32_t handle) {
  place *p = find(s, handle);
  if (!p) return false;
  /* Removed explicitly: a child process that is being forked may hold the descriptor for a moment. */
  epoll_ctl(s->epoll, EPOLL_CTL_DEL, p->fd, NULL);
  close(p->fd);
  p->fd = -1;
  p->generation = (p->generation + 1) & 0x7fff;
  p->next_free = s->first_free;
  s->first_free = handle & (MOST_SOCKETS - 1);
  s->open--;
  return true;
}

int sockets_init(sockets *s, shared *memory) {
  *s = (sockets){.first_free = -1, .shared = memory, .epoll = epoll_create1(EPOLL_CLOEXEC)};
  return s->epoll < 0 ? errno : 0;
}

void sockets_end(sockets *s) {
  for (int32_t i = 0; i < s->size; i++)
    if (s->places[i].fd >= 0) close(s->places[i].fd);
  free(s->places);
  close(s->epoll);
  *s = (sockets){.epoll = -1, .first_free = -1};
}
