import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A line to a TCP port of the loopback that can be cut without a word to either end. */
export class CutLine {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections so far. */
  connections = 0

  constructor(target: number) {
    this.#server = createServer((near) => {
      this.connections++
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

  /** Opens one that ends with its test. */
  static async to(target: number): Promise<CutLine> {
    const line = await CutLine.open(target)
    onTestFinished(() => line.close())
    return line
  }

  /** Opens one that lasts until it is closed. */
  static async open(target: number): Promise<CutLine> {
    const line = new CutLine(target)
    line.#server.listen(0, '127.0.0.1')
    await once(line.#server, 'listening')
    return line
  }

  /** Port of its entrance. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Cuts every connection; new ones can be made. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts every connection, and takes no more. */
  close(): void {
    this.#server.close()
    this.cut()
  }
}
