/** Load generator of `scripts/bench media`: rtp-load.c. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { SrtpSender } from '../../media/rtp/srtp.ts'
import { LineProgram, temporary } from './programs.ts'

/** Result of one run of the load. */
export interface Run {
  readonly sent: number
  readonly received: number
  /** Number of slots that started more than 1 ms late, and the maximum delay; the load was then the limit. */
  readonly lateSlots: number
  readonly latestUs: number
  /** Latency from sending to arrival, in µs: percentiles and maximum. */
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** Returns the SSRC of socket `n`. */
export const ssrcOf = (n: number): number => 0x10000 + n
/** SRTP key of the load. */
export const loadKey: Buffer = Buffer.alloc(30, 7)
/** SRTP suite of the load. */
export const suite = 'AES_CM_128_HMAC_SHA1_80'

const plainBytes = 172
const encryptedBytes = plainBytes + 10
const mark = 0x42454e43

const packetOf = (n: number, index: number): Buffer => {
  const packet = Buffer.alloc(plainBytes, 0xff)
  packet.writeUInt16BE(0x8000, 0)
  packet.writeUInt16BE(index & 0xffff, 2)
  packet.writeUInt32BE((index * 160) >>> 0, 4)
  packet.writeUInt32BE(ssrcOf(n), 8)
  packet.writeUInt32BE(mark, 12)
  packet.writeUInt32BE(n, 16)
  packet.writeUInt32BE(index, 20)
  return packet
}

/** Writes the encrypted packets of all even sockets to a file. */
const writePackets = (file: string, calls: number, packets: number): void => {
  const out = openSync(file, 'w')
  for (let call = 0; call < calls; call++) {
    const sender = new SrtpSender(suite, loadKey)
    const made: Buffer[] = []
    // Copied, because the sender may reuse its buffer.
    for (let i = 0; i < packets; i++) made.push(Buffer.from(sender.protect(packetOf(2 * call, i))))
    writeSync(out, Buffer.concat(made))
  }
  closeSync(out)
}

/** Both ends of calls. */
export class Load {
  readonly ports: readonly number[]
  readonly #program: LineProgram

  private constructor(program: LineProgram, ports: readonly number[]) {
    this.#program = program
    this.ports = ports
  }

  /** Starts the load with `slots` steps per 20 ms. Even sockets send SRTP for `encryptedMs`, if present. */
  static async open(program: string, calls: number, slots: number, encryptedMs?: number): Promise<Load> {
    const command = [program, String(2 * calls), String(slots)]
    if (encryptedMs !== undefined) {
      const packets = Math.ceil(encryptedMs / 20) + 1
      const file = temporary('packets')
      writePackets(file, calls, packets)
      command.push(file, String(encryptedBytes), String(packets))
    }
    const load = new LineProgram('load', command)
    return new Load(load, numbers(await load.line()))
  }

  /** Sets the destination port of each socket. */
  aim(ports: readonly number[]): void {
    this.#program.say(ports.join(' '))
  }

  /** Runs the load. Latencies cover the `ms` after the settling time; the other figures cover both. */
  async run(settleMs: number, ms: number): Promise<Run> {
    this.#program.say(`${settleMs} ${ms}`)
    return JSON.parse(await this.#program.line())
  }

  close(): Promise<void> {
    return this.#program.close()
  }
}

/** Returns the numbers of a line. */
export const numbers = (line: string): number[] => line.trim().split(' ').map(Number)
