import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/**
 * TCP relay to a loopback port whose connections can be cut without a close handshake of the protocol above.
 */
export class CutLine {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Number of connections so far, refused ones among them. */
  connections = 0
  #isDown = false

  constructor(target: number) {
    this.#server = createServer((near) => {
      this.connections++
      if (this.#isDown) {
        near.destroy()
        return
      }
      const far = connect(target, '127.0.0.1')
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket)
        socket.pipe(other)
        socket.on('error', () => socket.destroy())
        socket.on('close', () => this.#sockets.delete(socket))
      }
    })
  }

  /** Opens a relay that closes with its test. */
  static async to(target: number): Promise<CutLine> {
    const line = await CutLine.open(target)
    onTestFinished(() => line.close())
    return line
  }

  /** Opens a relay that must be closed by `close`. */
  static async open(target: number): Promise<CutLine> {
    const line = new CutLine(target)
    line.#server.listen(0, '127.0.0.1')
    await once(line.#server, 'listening')
    return line
  }

  /** Port to which clients connect. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Cuts every connection, and accepts new ones. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts every connection, and refuses new ones until {@link up}. */
  down(): void {
    this.#isDown = true
    this.cut()
  }

  /** Accepts connections again. */
  up(): void {
    this.#isDown = false
  }

  /** Cuts every connection, and closes the port. */
  close(): void {
    this.#server.close()
    this.cut()
  }
}
