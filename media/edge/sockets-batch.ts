import type { BindSocket, OnPacket, PortSocket } from './sockets.ts'

/**
 * The addon of media/edge/native. Offsets and sizes refer to the memory returned by {@link UdpAddon.start},
 * in bytes.
 */
export interface UdpAddon {
  readonly version: number
  readonly slots: number
  readonly slotBytes: number
  /**
   * 32-bit words of an entry: handle, offset, length, port, scope, and four of the address in network order.
   */
  readonly entryWords: number
  readonly receivedAt: number
  readonly sendsAt: number
  readonly scratchAt: number
  readonly countersAt: number
  /** Starts the addon, once per thread. `onBatch` is called with the number of received packets. */
  start(onBatch: (count: number) => void): ArrayBuffer
  /** Returns a handle. Throws the system's error with its name as `code`. */
  bind(address: string, port: number): number
  portOf(handle: number): number
  close(handle: number): void
  /** Sends the first `count` entries at `sendsAt`. */
  flush(count: number): void
  /** Parses an IP literal into the scratch entry. Returns 4, 6, or 0 for anything else. */
  pack(address: string): number
  /** Returns the scratch entry's address as text. `v6`: it is an IPv6 address. */
  unpack(v6: boolean): string
  /**
   * Throws the system's error, with its name as `code`, if the process may not give threads real-time
   * priority.
   */
  checkRealtime(): void
  /** Gives this thread real-time priority, `SCHED_RR` 1 of sched(7). Throws like {@link checkRealtime}. */
  enterRealtime(): void
}

/** Counters of the sockets of one thread. */
export interface SocketCounters {
  readonly received: number
  readonly sent: number
  readonly receiveErrors: number
  readonly sendErrors: number
  /** Packets dropped because they exceed the maximum length of an RTP packet. */
  readonly tooLong: number
  /** Packets to a closed socket or without a destination. */
  readonly misaddressed: number
  readonly wakeups: number
}

/** Version of the addon that this file requires. */
export const addonVersion = 2

/** Words of an entry. */
const Word = { handle: 0, offset: 1, length: 2, port: 3, scope: 4, address: 5 } as const
/** Bits of a handle that index the addon's socket table. */
const socketIndexMask = 0xffff

/**
 * Opens the sockets of this thread through the addon; must be called once per thread. Received packets are
 * lent: the next batch overwrites them, so packets that are kept must be copied. Sent packets leave at the
 * end of the event loop's turn.
 */
export const openBatchSockets = (
  addon: UdpAddon,
): { readonly bind: BindSocket; readonly counters: () => SocketCounters } => {
  const hub = new Hub(addon)
  return {
    // `async` turns a thrown error into a rejection.
    bind: async (address, port, onPacket) => hub.bind(address, port, onPacket),
    counters: () => hub.counters(),
  }
}

class Hub {
  readonly addon: UdpAddon
  readonly memory: ArrayBuffer
  readonly bytes: Buffer
  readonly words: Int32Array
  #received: number
  #sends: number
  #scratch: number
  /** Last packet of each slot, for reuse: most packets of a call have the same length. */
  #packets: Buffer[]
  #sockets: (BatchSocket | undefined)[] = []
  #queued = 0
  #isFlushDue = false
  #flush = () => this.flush()

  constructor(addon: UdpAddon) {
    this.addon = addon
    this.memory = addon.start((count) => this.#deliver(count))
    this.bytes = Buffer.from(this.memory)
    this.words = new Int32Array(this.memory)
    this.#received = addon.receivedAt / 4
    this.#sends = addon.sendsAt / 4
    this.#scratch = addon.scratchAt / 4
    this.#packets = Array.from({ length: addon.slots }, (_, slot) =>
      Buffer.from(this.memory, slot * addon.slotBytes, 0),
    )
  }

  bind(address: string, port: number, onPacket: OnPacket): PortSocket {
    const handle = this.addon.bind(address, port)
    const socket = new BatchSocket(this, handle, this.addon.pack(address) === 6, onPacket)
    this.#sockets[handle & socketIndexMask] = socket
    return socket
  }

  close(handle: number): void {
    // Packets that wait to be sent, such as an RTCP BYE, must leave before the socket is closed.
    this.flush()
    this.#sockets[handle & socketIndexMask] = undefined
    this.addon.close(handle)
  }

  /**
   * Returns the word offset of the next free entry, which counts as written. Its bytes may be stored at
   * {@link room}.
   */
  next(): number {
    if (this.#queued === this.addon.slots) this.flush()
    if (!this.#isFlushDue) {
      this.#isFlushDue = true
      queueMicrotask(this.#flush)
    }
    return this.#sends + this.#queued++ * this.addon.entryWords
  }

  /** Byte offset of the slot that belongs to the last entry of {@link next}. */
  get room(): number {
    return (this.addon.slots + this.#queued - 1) * this.addon.slotBytes
  }

  flush(): void {
    const queued = this.#queued
    this.#isFlushDue = false
    this.#queued = 0
    if (queued > 0) this.addon.flush(queued)
  }

  /** Parses an IP literal, IPv6 if `v6`, into an entry's words; undefined for any other text. */
  pack(address: string, v6: boolean): Int32Array | undefined {
    if (this.addon.pack(address) !== (v6 ? 6 : 4)) return undefined
    return this.words.slice(this.#scratch, this.#scratch + this.addon.entryWords)
  }

  /** Returns the address of the entry at the word offset `at`. `v6`: it is an IPv6 address. */
  unpack(at: number, v6: boolean): string {
    const from = at + Word.scope
    this.words.copyWithin(this.#scratch + Word.scope, from, from + 5)
    return this.addon.unpack(v6)
  }

  counters(): SocketCounters {
    const [received, sent, receiveErrors, sendErrors, tooLong, misaddressed, wakeups] = new Float64Array(
      this.memory,
      this.addon.countersAt,
      7,
    ) as unknown as [number, number, number, number, number, number, number]
    return { received, sent, receiveErrors, sendErrors, tooLong, misaddressed, wakeups }
  }

  #deliver(count: number): void {
    const { words } = this
    const { entryWords, slotBytes } = this.addon
    // Packets that are sent while the batch is processed leave at its end, without a microtask of their own.
    this.#isFlushDue = true
    try {
      for (let slot = 0, at = this.#received; slot < count; slot++, at += entryWords) {
        const handle = words[at]!
        const socket = this.#sockets[handle & socketIndexMask]
        // The socket may have been closed by an earlier packet of this batch.
        if (socket?.handle !== handle) continue
        const length = words[at + Word.length]!
        let packet = this.#packets[slot]!
        if (packet.length !== length) {
          packet = Buffer.from(this.memory, slot * slotBytes, length)
          this.#packets[slot] = packet
        }
        socket.receive(packet, words, at)
      }
    } finally {
      this.flush()
    }
  }
}

class BatchSocket implements PortSocket {
  readonly port: number
  readonly handle: number
  #hub: Hub
  #isIPv6: boolean
  #onPacket: OnPacket
  #isClosed = false
  /** Last source; most packets come from the same one. */
  #from: Int32Array
  #fromAddress = ''
  #to: Int32Array | undefined
  #toAddress = ''

  constructor(hub: Hub, handle: number, v6: boolean, onPacket: OnPacket) {
    this.handle = handle
    this.port = hub.addon.portOf(handle)
    this.#hub = hub
    this.#isIPv6 = v6
    this.#onPacket = onPacket
    this.#from = new Int32Array(hub.addon.entryWords)
  }

  receive(packet: Buffer, words: Int32Array, at: number): void {
    if (!this.#isLast(words, at)) {
      this.#from = words.slice(at, at + this.#from.length)
      this.#fromAddress = this.#hub.unpack(at, this.#isIPv6)
    }
    this.#onPacket(packet, this.#fromAddress, words[at + Word.port]!)
  }

  send(packet: Buffer, offset: number, length: number, port: number, address: string): void {
    if (this.#isClosed) return
    const hub = this.#hub
    if (address !== this.#toAddress) {
      this.#to = hub.pack(address, this.#isIPv6)
      this.#toAddress = address
    }
    // Invalid addresses and packets longer than a slot are ignored.
    const to = this.#to
    if (!to || length > hub.addon.slotBytes) return
    const { words } = hub
    const at = hub.next()
    let from = packet.byteOffset + offset
    if (packet.buffer !== hub.memory) {
      from = hub.room
      hub.bytes.set(packet.subarray(offset, offset + length), from)
    }
    words[at] = this.handle
    words[at + Word.offset] = from
    words[at + Word.length] = length
    words[at + Word.port] = port
    words[at + Word.scope] = to[Word.scope]!
    words[at + Word.address] = to[Word.address]!
    if (!this.#isIPv6) return
    words[at + Word.address + 1] = to[Word.address + 1]!
    words[at + Word.address + 2] = to[Word.address + 2]!
    words[at + Word.address + 3] = to[Word.address + 3]!
  }

  close(): Promise<void> {
    if (!this.#isClosed) this.#hub.close(this.handle)
    this.#isClosed = true
    return Promise.resolve()
  }

  #isLast(words: Int32Array, at: number): boolean {
    const from = this.#from
    if (this.#fromAddress === '' || words[at + Word.address] !== from[Word.address]) return false
    if (!this.#isIPv6) return true
    for (let word = Word.scope; word < from.length; word++) if (words[at + word] !== from[word]) return false
    return true
  }
}
