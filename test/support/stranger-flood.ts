import { connect, type Socket } from 'node:net'
import { SipCaller } from './sip-caller.ts'

/** Options of a flood. */
export interface FloodOptions {
  /** SIP port of the gateway at 127.0.0.1, for UDP and TCP. */
  readonly port: number
  /** URI that needs no authentication. */
  readonly uri: string
  /** Number of datagrams of each kind per second. */
  readonly perSecond: number
  /** Number of idle TCP connections. */
  readonly connections?: number
}

/** Time between two bursts, in ms. */
const stepMs = 50
/**
 * Numbers of source addresses: of INVITEs without an ACK, like forged ones, and of callers that send the ACK.
 */
const forgedAddresses = 20
const realAddresses = 3

/**
 * Untrusted sources at loopback addresses. At the same time they send INVITEs without an ACK, calls without
 * an end, OPTIONS, REGISTER and garbage, and hold silent TCP connections.
 */
export class StrangerFlood {
  readonly #options: FloodOptions
  readonly #forged: readonly SipCaller[]
  readonly #real: readonly SipCaller[]
  readonly #idle: Socket[] = []
  readonly #timer: NodeJS.Timeout
  #step = 0
  #sent = 0
  /** Number of answered and rejected calls with an ACK. */
  readonly outcomes = { answered: 0, refused: 0 }

  private constructor(options: FloodOptions, forged: readonly SipCaller[], real: readonly SipCaller[]) {
    this.#options = options
    this.#forged = forged
    this.#real = real
    for (let i = 0; i < (options.connections ?? 0); i++)
      this.#idle.push(connect(options.port, '127.0.0.1').on('error', () => {}))
    this.#timer = setInterval(() => this.#burst(), stepMs)
  }

  /** Starts the flood. */
  static async start(options: FloodOptions): Promise<StrangerFlood> {
    const open = (network: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          SipCaller.open(options.port, `127.0.${network}.${i + 1}`, false),
        ),
      )
    return new StrangerFlood(options, await open('100', forgedAddresses), await open('101', realAddresses))
  }

  /** Number of sent datagrams. */
  get sent(): number {
    return this.#sent
  }

  /** Stops the flood. Idempotent. */
  stop(): void {
    clearInterval(this.#timer)
    for (const caller of [...this.#forged, ...this.#real]) caller.close()
    for (const socket of this.#idle) socket.destroy()
  }

  #burst(): void {
    const { uri, perSecond } = this.#options
    const until = Math.floor((++this.#step * perSecond * stepMs) / 1_000)
    for (let sent = Math.floor(((this.#step - 1) * perSecond * stepMs) / 1_000); sent < until; sent++) {
      const forged = this.#forged[sent % this.#forged.length]!
      const real = this.#real[sent % this.#real.length]!
      forged.invite(uri)
      real.ask('OPTIONS', uri)
      real.ask('REGISTER', uri)
      forged.send('INVITE nonsense\r\nContent-Length: x\r\n\r\n')
      void real.call(uri).then(({ status }) => {
        if (status === 200) this.outcomes.answered++
        else if (status > 0) this.outcomes.refused++
      })
      this.#sent += 5
    }
  }
}
