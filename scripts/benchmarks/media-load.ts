/** The load of `scripts/bench media`: rtp-load.c. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { SrtpSender } from '../../media/rtp/srtp.ts'
import { LineProgram, temporary } from './programs.ts'

/** What one run of the load saw. */
export interface Run {
  readonly sent: number
  readonly received: number
  /** Slots that began more than 1 ms late, and how late the latest was: then the load was the limit. */
  readonly lateSlots: number
  readonly latestUs: number
  /** From sending to arriving, in µs. */
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** SSRC of what socket `n` sends. */
export const ssrcOf = (n: number): number => 0x10000 + n
/** Key of everything that the load sends encrypted. */
export const loadKey: Buffer = Buffer.alloc(30, 7)
/** Suite of everything that is encrypted. */
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

/** The encrypted packets of all even sockets, ready to be sent. */
const writePackets = (file: string, calls: number, packets: number): void => {
  const out = openSync(file, 'w')
  for (let call = 0; call < calls; call++) {
    const sender = new SrtpSender(suite, loadKey)
    const made: Buffer[] = []
    // Copied, as a sender may give the same memory again.
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

  /** Packets leave in `slots` steps per 20 ms. `encryptedMs`: the even sockets send SRTP, for so long in all. */
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

  /** Where each socket sends to. */
  aim(ports: readonly number[]): void {
    this.#program.say(ports.join(' '))
  }

  /** Latencies are of the `ms` after those to settle; the other figures are of both. */
  async run(settleMs: number, ms: number): Promise<Run> {
    this.#program.say(`${settleMs} ${ms}`)
    return JSON.parse(await this.#program.line())
  }

  close(): Promise<void> {
    return this.#program.close()
  }
}

/** The numbers of a line. */
export const numbers = (line: string): number[] => line.trim().split(' ').map(Number)
