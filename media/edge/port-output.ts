import type { SessionOutput } from '../rtp/session.ts'
import type { PortNumber, Report } from './protocol.ts'
import type { PortSocket } from './sockets.ts'

/** Sockets of a port on one address. */
export interface SocketPair {
  /** Whether the address is IPv6. */
  readonly v6: boolean
  readonly rtp: PortSocket
  /** Socket for RTCP; the same as `rtp` if multiplexed. */
  readonly rtcp: PortSocket
}

/** Output of a session: its sockets, and reports about it. */
export class PortOutput implements SessionOutput {
  #port: PortNumber
  #report: (report: Report) => void
  #wake: () => void
  #v4: SocketPair | undefined
  #v6: SocketPair | undefined

  constructor(port: PortNumber, report: (report: Report) => void, wake: () => void) {
    this.#port = port
    this.#report = report
    this.#wake = wake
  }

  /** Sets the sockets, one pair per IP family. Must precede the first packet. */
  sockets(pairs: readonly SocketPair[]): void {
    this.#v4 = pairs.find(({ v6 }) => !v6)
    this.#v6 = pairs.find(({ v6 }) => v6)
  }

  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void {
    this.#to(address)?.rtp.send(packet, offset, length, port, address)
  }

  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void {
    const pair = this.#to(address)
    const socket = muxed ? pair?.rtp : pair?.rtcp
    socket?.send(packet, 0, packet.length, port, address)
  }

  event(event: Parameters<SessionOutput['event']>[0]): void {
    this.#report({ op: 'event', port: this.#port, event })
  }

  played(play: number): void {
    this.#report({ op: 'played', port: this.#port, play })
  }

  wake(): void {
    this.#wake()
  }

  /** Returns the sockets of the address's family. */
  #to(address: string): SocketPair | undefined {
    return address.includes(':') ? this.#v6 : this.#v4
  }
}
