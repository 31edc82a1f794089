import type { SessionOutput } from '../rtp/session.ts'
import type { PortNumber, Report } from './protocol.ts'
import type { PortSocket } from './sockets.ts'

/** A session's way out: its sockets, and reports about it. */
export class PortOutput implements SessionOutput {
  #port: PortNumber
  #report: (report: Report) => void
  #wake: () => void
  #rtp: PortSocket | undefined
  #rtcp: PortSocket | undefined

  constructor(port: PortNumber, report: (report: Report) => void, wake: () => void) {
    this.#port = port
    this.#report = report
    this.#wake = wake
  }

  /** Sets what to send by; nothing is sent before a far end is set, and that comes later. */
  sockets(rtp: PortSocket, rtcp: PortSocket): void {
    this.#rtp = rtp
    this.#rtcp = rtcp
  }

  rtp(packet: Buffer, offset: number, length: number, port: number, address: string): void {
    this.#rtp?.send(packet, offset, length, port, address)
  }

  rtcp(packet: Buffer, port: number, address: string, muxed: boolean): void {
    const socket = muxed ? this.#rtp : this.#rtcp
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
}
