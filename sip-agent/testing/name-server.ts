import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

const headerBytes = 12
/** Type of an A record, and the class of all records of the internet (RFC 1035 3.2). */
const typeA = 1
const internet = 1

/** A name server that gives every name the same A records with a TTL of 0, and no other records. */
export class NameServer {
  /** IPv4 addresses of every name. */
  answers: readonly string[]
  readonly #socket: Socket = createSocket('udp4')

  private constructor(answers: readonly string[]) {
    this.answers = answers
    this.#socket.on('message', (query, from) =>
      this.#socket.send(this.#answer(query), from.port, from.address),
    )
  }

  /** Starts it on a free port of loopback. */
  static async start(answers: readonly string[]): Promise<NameServer> {
    const server = new NameServer(answers)
    server.#socket.bind(0, '127.0.0.1')
    await once(server.#socket, 'listening')
    return server
  }

  /** Address that it listens on, `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  close(): void {
    this.#socket.close()
  }

  #answer(query: Buffer): Buffer {
    const questionEnd = query.indexOf(0, headerBytes) + 5
    const question = query.subarray(headerBytes, questionEnd)
    const addresses = question.readUInt16BE(question.length - 4) === typeA ? this.answers : []
    const header = Buffer.alloc(headerBytes)
    query.copy(header, 0, 0, 2)
    // Flags: a response, recursion desired, recursion available.
    header.writeUInt16BE(0x8180, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(addresses.length, 6)
    return Buffer.concat([header, question, ...addresses.map(recordOf)])
  }
}

/** A record whose name is that of the question. */
const recordOf = (address: string): Buffer => {
  const record = Buffer.alloc(16)
  record.writeUInt16BE(0xc000 | headerBytes, 0)
  record.writeUInt16BE(typeA, 2)
  record.writeUInt16BE(internet, 4)
  record.writeUInt32BE(0, 6)
  record.writeUInt16BE(4, 10)
  for (const [i, part] of address.split('.').entries()) record.writeUInt8(Number(part), 12 + i)
  return record
}
