import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** One message of the protocol between an agent and its application. */
export interface RelayedFrame {
  readonly from: 'agent' | 'application'
  /** Leading line and SIP message. */
  readonly text: string
  /** Second field of the leading line: `sip`, `response`, … */
  readonly kind: string
  /**
   * Method of a SIP request, or status and CSeq method of a SIP response (`200 BYE`); empty without a SIP
   * message.
   */
  readonly sip: string
}

/** Fate of a frame: delivered, lost, delivered twice, held until {@link AgentRelay.release}, or replaced. */
export type Fate = 'pass' | 'drop' | 'twice' | 'hold' | { readonly instead: string }

/**
 * Relay between an application and its SIP agent that simulates a misbehaving agent: loses, doubles, delays
 * or changes frames. Without a {@link rule}, all frames pass.
 */
export class AgentRelay {
  /** Decides on each frame. */
  rule: (frame: RelayedFrame) => Fate = () => 'pass'
  /** All received frames, delivered or not. */
  readonly seen: RelayedFrame[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #held: (() => void)[] = []

  constructor(server: Server) {
    this.#server = server
  }

  /** Listens at a free port of 127.0.0.1, and connects to the agent for each application. */
  static async between(agent: { readonly host: string; readonly port: number }): Promise<AgentRelay> {
    const server = createServer()
    const relay = new AgentRelay(server)
    server.on('connection', (application) => relay.#join(application, connect(agent.port, agent.host)))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return relay
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  /** Delivers the held frames in order, after all later ones. */
  release(): void {
    for (const pass of this.#held.splice(0)) pass()
  }

  /** Cuts the connections, like the death of the agent. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #join(application: Socket, agent: Socket): void {
    this.#relay('application', application, agent)
    this.#relay('agent', agent, application)
  }

  #relay(from: RelayedFrame['from'], source: Socket, target: Socket): void {
    let pending = Buffer.alloc(0)
    this.#sockets.add(source)
    source.on('error', () => {})
    source.on('close', () => {
      this.#sockets.delete(source)
      target.destroy()
    })
    source.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      for (;;) {
        const mark = pending.indexOf('#')
        const end = mark + 1 + Number(pending.subarray(0, mark).toString())
        if (mark < 0 || pending.length < end) return
        const text = pending.subarray(mark + 1, end).toString()
        pending = pending.subarray(end)
        this.#decide(frameOf(from, text), target)
      }
    })
  }

  #decide(frame: RelayedFrame, target: Socket): void {
    this.seen.push(frame)
    const fate = this.rule(frame)
    const write = (text: string) => {
      if (!target.destroyed) target.write(`${Buffer.byteLength(text)}#${text}`)
    }
    if (fate === 'drop') return
    if (fate === 'hold') this.#held.push(() => write(frame.text))
    else if (typeof fate === 'object') write(fate.instead)
    else write(frame.text)
    if (fate === 'twice') write(frame.text)
  }
}

const frameOf = (from: RelayedFrame['from'], text: string): RelayedFrame => {
  const lines = text.split('\r\n')
  const [, kind = ''] = (lines[0] ?? '').split('|')
  const [, status] = /^SIP\/2\.0 (\d{3})/.exec(lines[1] ?? '') ?? []
  const [, method = ''] = /^CSeq[ \t]*:[ \t]*\d+[ \t]+(\w+)/im.exec(text) ?? []
  const sip = status === undefined ? ((lines[1] ?? '').split(' ')[0] ?? '') : `${status} ${method}`
  return { from, text, kind, sip }
}
