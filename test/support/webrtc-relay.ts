import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { BadNetwork, type Badness } from './bad-network.ts'
import { Bottleneck, type BottleneckOptions } from './bottleneck.ts'

const loopback = '127.0.0.1'

const bound = async (): Promise<Socket> => {
  const socket = createSocket('udp4').bind(0, loopback)
  await once(socket, 'listening')
  return socket
}

/**
 * A relay between pages and the gateway's WebRTC port that loses and delays packets: ICE, DTLS, SRTP and
 * SRTCP alike. The packets to all its pages share one path. Pages opened with its port use it
 * (`Browser.page`).
 */
export class WebRtcRelay {
  readonly toGateway: BadNetwork
  readonly toPage: BadNetwork | Bottleneck
  readonly #front: Socket
  readonly #gatewayPort: number
  /** A socket for each address that a page sends from. */
  readonly #backs = new Map<string, Socket>()
  #closed = false

  private constructor(
    front: Socket,
    gatewayPort: number,
    toGateway: BadNetwork,
    toPage: BadNetwork | Bottleneck,
  ) {
    this.#front = front
    this.#gatewayPort = gatewayPort
    this.toGateway = toGateway
    this.toPage = toPage
    front.on('message', (packet, { address, port }) => this.#forward(packet, address, port))
  }

  /**
   * Opens a relay in front of this port, until the end of the test. Each direction has independent losses and
   * delays.
   */
  static async open(gatewayPort: number, badness: Badness): Promise<WebRtcRelay> {
    const front = await bound()
    const back = { ...badness, seed: badness.seed + 1 }
    const relay = new WebRtcRelay(front, gatewayPort, new BadNetwork(badness), new BadNetwork(back))
    onTestFinished(() => relay.close())
    return relay
  }

  /** Opens a relay whose path to the pages is narrow. The caller closes it. */
  static async narrow(gatewayPort: number, options: BottleneckOptions): Promise<WebRtcRelay> {
    const toGateway = new BadNetwork({ loss: 0, jitterMs: 0, seed: 1 })
    return new WebRtcRelay(await bound(), gatewayPort, toGateway, new Bottleneck(options))
  }

  /** Port for pages, in place of the gateway's. */
  get port(): number {
    return this.#front.address().port
  }

  #forward(packet: Buffer, address: string, port: number): void {
    const back = this.#backFor(address, port)
    this.toGateway.carry(() => back.send(packet, this.#gatewayPort, loopback))
  }

  #backFor(address: string, port: number): Socket {
    const key = `${address}:${port}`
    const known = this.#backs.get(key)
    if (known) return known
    const back = createSocket('udp4')
    back.on('message', (packet) => {
      this.toPage.carry(() => this.#front.send(packet, port, address), packet.length)
    })
    this.#backs.set(key, back)
    return back
  }

  /** Ends the relay. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.toGateway.close()
    this.toPage.close()
    for (const back of this.#backs.values()) back.close()
    this.#front.close()
  }
}
