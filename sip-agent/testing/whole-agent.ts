import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Agent } from '../agent.ts'
import { FakeClock } from '../clock.ts'
import { FrameReader, makeFrame, splitPayload } from '../drachtio/frames.ts'
import { knownMethods } from '../message/methods.ts'
import { TimerWheel } from '../timer-wheel.ts'
import type { SipAgentOptions } from '../types.ts'

const secret = 'whole'

/** One turn of the event loop. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Frames that the agent delivered to the application. */
export interface Delivered {
  readonly txnId: string
  readonly dialogId: string
  readonly message: string
}

/**
 * A whole agent on real sockets, with a clock that the test advances. Its peer and its application are bare
 * sockets that parse nothing, so that every effect is visible.
 */
export class WholeAgent {
  /** Errors within the agent. */
  readonly faults: unknown[] = []
  readonly clock = new FakeClock()
  /** The agent's timers: the fake clock need not sort thousands of them. */
  readonly timers = new TimerWheel(this.clock, (error) => this.faults.push(error))
  /** Datagrams that the agent sent back, as text. */
  readonly answers: string[] = []
  readonly delivered: Delivered[] = []
  /** Handler of frames in the application; default none. */
  onDelivered: (delivered: Delivered) => void = () => {}
  /** Handler of datagrams in the peer; default none. */
  onAnswer: (text: string) => void = () => {}
  readonly agent: Agent
  readonly #udp: UdpSocket
  #app: Socket | undefined
  #wake = () => {}
  #probes = 0
  #pongs = 0

  private constructor(options: Partial<SipAgentOptions>) {
    this.agent = new Agent({
      ...options,
      secret,
      clock: this.clock,
      fault: (error) => this.faults.push(error),
    })
    this.#udp = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
    this.#udp.on('message', (bytes) => {
      this.answers.push(bytes.toString('latin1'))
      this.onAnswer(bytes.toString('latin1'))
      this.#wake()
    })
  }

  /** Starts the agent on UDP and on the other given transports. */
  static async start(
    others: readonly ('tcp' | 'ws')[] = [],
    options: Partial<SipAgentOptions> = {},
  ): Promise<WholeAgent> {
    const whole = new WholeAgent(options)
    const listen = ['udp' as const, ...others].map((transport) => ({
      transport,
      address: '127.0.0.1',
      port: 0,
    }))
    await whole.#connect(await whole.agent.start(listen))
    whole.#udp.bind(0, '127.0.0.1')
    await once(whole.#udp, 'listening')
    return whole
  }

  /** The bound port of a transport. */
  port(transport: string): number {
    return this.agent.addresses.find((each) => each.transport === transport)?.port ?? 0
  }

  /** The port of the peer. */
  get peerPort(): number {
    return this.#udp.address().port
  }

  /** Sends one datagram to the agent. */
  send(bytes: Buffer | string): Promise<void> {
    return new Promise((resolve) => this.#udp.send(bytes, this.port('udp'), '127.0.0.1', () => resolve()))
  }

  /** Sends a frame of the application. */
  say(line: string, message: string): void {
    this.#app?.write(makeFrame(line, Buffer.from(message)))
  }

  /**
   * Waits until the agent has handled all messages of peer and application, and its responses have arrived.
   */
  async settle(): Promise<void> {
    await this.#probe()
    // The application may have answered the frames that it received.
    const answered = this.#pongs + 1
    this.#app?.write(makeFrame('4|ping'))
    await this.#until(() => this.#pongs >= answered)
    await this.#probe()
  }

  /**
   * Sends two requests after the earlier messages: one is delivered to the application, the other rejected by
   * the agent.
   */
  async #probe(): Promise<void> {
    const id = `probe-${++this.#probes}`
    const probe = (method: string, extra = '') =>
      `${method} sip:probe@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK${id}${method}\r\nFrom: <sip:p@probe>;tag=p\r\n` +
      `To: <sip:probe@127.0.0.1>\r\nCall-ID: ${id}\r\nCSeq: 1 ${method}\r\n${extra}Content-Length: 0\r\n\r\n`
    await this.send(probe('OPTIONS'))
    await this.send(probe('MESSAGE', 'Require: nothing-that-exists\r\n'))
    const refused = (text: string) => text.startsWith('SIP/2.0 420') && text.includes(`${id}\r`)
    await this.#until(
      () => this.delivered.some(({ message }) => message.includes(`${id}\r`)) && this.answers.some(refused),
    )
  }

  async #until(done: () => boolean): Promise<void> {
    while (!done()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Returns and clears both lists, without the effects of `settle` itself. */
  take(): { answers: string[]; delivered: Delivered[] } {
    const own = (text: string) => !text.includes('Call-ID: probe-')
    return {
      answers: this.answers.splice(0).filter(own),
      delivered: this.delivered.splice(0).filter(({ message }) => own(message)),
    }
  }

  /** Closes the application's connection. Resolves when the agent has noticed. */
  async loseApplication(): Promise<void> {
    this.#app?.destroy()
    while (this.agent.stats.applications > 0) await turn()
  }

  async close(): Promise<void> {
    // Otherwise the calls that end with the application's connection would still exist.
    await this.loseApplication()
    this.#udp.close()
    await this.agent.close()
    await turn()
  }

  async #connect(port: number): Promise<void> {
    const app = connect(port, '127.0.0.1')
    this.#app = app
    const reader = new FrameReader()
    const ready = new Promise<void>((resolve) => {
      app.on('data', (chunk) => {
        for (const payload of reader.push(chunk)) if (this.#frame(payload)) resolve()
      })
    })
    await once(app, 'connect')
    app.write(makeFrame(`1|authenticate|${secret}|`))
    for (const method of knownMethods) app.write(makeFrame(`2|route|${method.toLowerCase()}`))
    app.write(makeFrame('3|ping'))
    await ready
  }

  /** Handles one frame; returns true for the answer to the ping. */
  #frame(payload: Buffer): boolean {
    const { fields, message } = splitPayload(payload)
    if (fields[1] !== 'sip') {
      if (fields[2] === '4') this.#pongs++
      this.#wake()
      return fields[2] === '3'
    }
    const delivered = {
      txnId: fields[8] ?? '',
      dialogId: fields[9] ?? '',
      message: message.toString('latin1'),
    }
    this.delivered.push(delivered)
    this.onDelivered(delivered)
    this.#wake()
    return false
  }
}
