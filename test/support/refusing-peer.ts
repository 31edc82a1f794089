import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { traceOnFailure } from './failure-report.ts'
import { headerOf } from './sip-text.ts'

/** Status and further header fields of a rejection. */
export interface PeerRefusal {
  readonly status: number
  readonly headers?: readonly string[]
}

/**
 * A UDP peer that rejects every INVITE by the same rule, for as long as the test runs. Closes with its test.
 */
export class RefusingPeer {
  /** Received INVITEs without retransmissions. */
  readonly invites: string[] = []
  readonly #socket: Socket

  constructor(socket: Socket, refusal: (n: number) => PeerRefusal) {
    this.#socket = socket
    const responses = new Map<string, string>()
    const trace = traceOnFailure(`rejecting peer at port ${socket.address().port}`)
    socket.on('message', (bytes, { port, address }) => {
      const request = bytes.toString()
      trace('received', request)
      if (!request.startsWith('INVITE ')) return
      const branch = headerOf(request, 'Via') ?? ''
      if (!responses.has(branch)) {
        this.invites.push(request)
        responses.set(branch, responseTo(request, refusal(this.invites.length)))
      }
      const response = responses.get(branch) ?? ''
      trace('sent', response)
      this.#socket.send(response, port, address)
    })
  }

  /** Listens at a port of 127.0.0.1. `refusal` is called with the number of the INVITE, which begins at 1. */
  static async listen(port: number, refusal: (n: number) => PeerRefusal): Promise<RefusingPeer> {
    const socket = createSocket('udp4').bind(port, '127.0.0.1')
    await once(socket, 'listening')
    onTestFinished(() => void socket.close())
    return new RefusingPeer(socket, refusal)
  }
}

const responseTo = (request: string, { status, headers = [] }: PeerRefusal): string =>
  [
    `SIP/2.0 ${status} Refused`,
    ...['Via', 'From', 'Call-ID', 'CSeq'].map((name) => `${name}: ${headerOf(request, name)}`),
    `To: ${headerOf(request, 'To')};tag=refuses`,
    ...headers,
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
