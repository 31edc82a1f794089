/*
 * Load generator: sends RTP from both ends of calls, 50 packets a second each, and receives the relayed packets.
 * Sockets 2i and 2i + 1 are the ends of a call. Each period of 20 ms has a number of slots, and each socket sends in
 * one of them: 20 slots are steps of 1 ms, 200 slots nearly an even flow. Received packets are read once per 1 ms; the
 * kernel records their times of arrival.
 *
 *   rtp-load <sockets> <slots> [<file> <bytes> <packets>]   prints its ports; the file has the encrypted packets of
 *                                                           each even socket
 *   standard input:  the destination port of each socket; then, for each run, the settling time and the time over which
 *                    latencies are measured, both in ms
 *   standard output: for each run one line of JSON; latencies in µs
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_NS = 20000000, KEPT = 256, BINS = 200000, PACKET = 172, HEADER = 12, MAGIC = 0x42454e43 };

typedef struct {
  int fd;
  struct sockaddr_in to;
  uint32_t sent;
  int64_t times[KEPT];
} flow;

static flow *flows;
static int count, slots;
static const uint8_t *ready_made;
static uint32_t ready_bytes, ready_packets;
static struct { uint64_t sent, received, late, bins[BINS]; int64_t latest; } now_running;

static int64_t nanoseconds(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void put32(uint8_t *at, uint32_t value) {
  value = htonl(value);
  memcpy(at, &value, 4);
}

static uint32_t get32(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, 4);
  return ntohl(value);
}

/* The payload begins with a mark, the number of the socket and the number of the packet, by which the receiver finds the
 * time of sending. */
static void send_one(int number) {
  flow *f = &flows[number];
  uint8_t packet[PACKET];
  const uint8_t *bytes = packet;
  size_t length = PACKET;
  if (ready_made && number % 2 == 0) {
    if (f->sent >= ready_packets) return;
    bytes = ready_made + ((size_t)(number / 2) * ready_packets + f->sent) * ready_bytes;
    length = ready_bytes;
  } else {
    memset(packet, 0xff, sizeof packet);
    put32(packet, 0x80000000u | (f->sent & 0xffff));
    put32(packet + 4, f->sent * 160);
    put32(packet + 8, 0x10000u + (uint32_t)number);
    put32(packet + HEADER, MAGIC);
    put32(packet + HEADER + 4, (uint32_t)number);
    put32(packet + HEADER + 8, f->sent);
  }
  f->times[f->sent++ % KEPT] = nanoseconds(CLOCK_REALTIME);
  if (sendto(f->fd, bytes, length, 0, (struct sockaddr *)&f->to, sizeof f->to) == (ssize_t)length) now_running.sent++;
}

/* An encrypted packet is only counted, because its payload cannot be read. */
static void heard(const uint8_t *packet, size_t length, int64_t at) {
  if (length < HEADER || (packet[1] >= 200 && packet[1] <= 207)) return;
  now_running.received++;
  size_t payload = HEADER + 4u * (packet[0] & 15);
  if (packet[0] & 16 && payload + 4 <= length) payload += 4 + 4u * (get32(packet + payload) & 0xffff);
  if (payload + 12 > length || get32(packet + payload) != MAGIC) return;
  uint32_t number = get32(packet + payload + 4), index = get32(packet + payload + 8);
  if (number >= (uint32_t)count || flows[number].sent - index > KEPT) return;
  int64_t took = (at - flows[number].times[index % KEPT]) / 1000;
  now_running.bins[took < 0 ? 0 : took >= BINS ? BINS - 1 : took]++;
}

static void drain(int fd) {
  uint8_t packet[2048], control[128];
  for (;;) {
    struct iovec part = {packet, sizeof packet};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT);
    if (length < 0) return;
    struct timespec at = {0};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) memcpy(&at, CMSG_DATA(c), sizeof at);
    heard(packet, (size_t)length, (int64_t)at.tv_sec * 1000000000 + at.tv_nsec);
  }
}

/* Runs one slot: waits for its time, sends from the sockets of this slot, and reads the sockets of the slot half a period
 * away. */
static void slot(int64_t due, int64_t index, int sends) {
  struct timespec at = {due / 1000000000, due % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
  int64_t behind = nanoseconds(CLOCK_MONOTONIC) - due;
  if (sends && behind > 1000000) now_running.late++;
  if (sends && behind > now_running.latest) now_running.latest = behind;
  for (int i = (int)(index % slots); sends && i < count; i += slots) send_one(i);
  for (int i = (int)((index + slots / 2) % slots); i < count; i += slots) drain(flows[i].fd);
}

static long percentile(double share) {
  uint64_t all = 0, sum = 0;
  for (int i = 0; i < BINS; i++) all += now_running.bins[i];
  for (int i = 0; i < BINS; i++)
    if ((sum += now_running.bins[i]) >= all * share && all) return i;
  return -1;
}

static void run(long settle_ms, long ms) {
  /* Packets that arrived before the run, which open the path, are not counted. */
  for (int i = 0; i < count; i++) drain(flows[i].fd);
  memset(&now_running, 0, sizeof now_running);
  int64_t began = nanoseconds(CLOCK_MONOTONIC) + 1000000, step = FRAME_NS / slots;
  long settled = settle_ms * slots / 20, end = settled + ms * slots / 20;
  for (long i = 0; i < end + 25 * slots; i++) {
    slot(began + i * step, i, i < end);
    if (i == settled) memset(now_running.bins, 0, sizeof now_running.bins);
  }
  printf("{\"sent\":%lu,\"received\":%lu,\"lateSlots\":%lu,\"latestUs\":%ld,\"p50\":%ld,\"p99\":%ld,\"most\":%ld}\n", now_running.sent,
         now_running.received, now_running.late, (long)(now_running.latest / 1000), percentile(0.5), percentile(0.99), percentile(1));
  fflush(stdout);
}

static int open_flows(void) {
  int on = 1, room = 1 << 20;
  for (int i = 0; i < count; i++) {
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    flow *f = &flows[i];
    f->fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (f->fd < 0 || bind(f->fd, (struct sockaddr *)&own, size) < 0) return -1;
    setsockopt(f->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    setsockopt(f->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    getsockname(f->fd, (struct sockaddr *)&own, &size);
    printf("%d ", ntohs(own.sin_port));
  }
  puts("");
  fflush(stdout);
  return 0;
}

int main(int words, char **word) {
  count = words > 2 ? atoi(word[1]) : 0;
  slots = words > 2 ? atoi(word[2]) : 1;
  flows = calloc((size_t)count, sizeof *flows);
  if (words > 5) {
    int file = open(word[3], O_RDONLY);
    ready_bytes = (uint32_t)atoi(word[4]);
    ready_packets = (uint32_t)atoi(word[5]);
    size_t size = (size_t)((count + 1) / 2) * ready_packets * ready_bytes;
    ready_made = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (ready_made == MAP_FAILED) return 1;
  }
  if (count < 2 || slots < 1 || open_flows() < 0) return 1;
  for (int i = 0; i < count; i++) {
    int port;
    if (scanf("%d", &port) != 1) return 0;
    flows[i].to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    flows[i].to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  for (long settle, ms; scanf("%ld %ld", &settle, &ms) == 2;) run(settle, ms);
  return 0;
}
