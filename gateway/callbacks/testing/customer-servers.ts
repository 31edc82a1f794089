/**
 * For tests: servers on loopback, clients for them, and what they fail with. {@link closeAll} belongs after
 * each test.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FakeClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { CustomerHttp, type CustomerHttpOptions } from '../customer-http.ts'
import { Signer } from '../signatures.ts'

/** Servers that are closed after the test. */
export const servers: Server[] = []
const clients: CustomerHttp[] = []

/** Closes every server and client of the test. */
export const closeAll = async (): Promise<void> => {
  for (const client of clients.splice(0)) client.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
}

/** Request that a server received. */
interface Seen {
  readonly request: IncomingMessage
  readonly body: string
}

/** A server on a loopback address; it keeps what it was asked. */
export const serve = async (answer: RequestListener, address = '127.0.0.1') => {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ request, body })
    answer(request, response)
  })
  servers.push(server)
  server.listen(0, address)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://${address}:${port}`, port, seen }
}

/** A client that may reach this machine. */
export const make = (more: Partial<CustomerHttpOptions> = {}) => {
  const client = new CustomerHttp({
    timeoutMs: 5000,
    allowedNetworks: ['127.0.0.1/32'],
    userAgent: 'Trunkline',
    clock: new FakeClock(),
    signer: () => new Signer([]),
    ...more,
  })
  clients.push(client)
  return client
}

/** The facts of the failure that a promise must end in. */
export const failureOf = async (promise: Promise<unknown>): Promise<TrunklineError> => {
  const error = await promise.then(
    () => undefined,
    (e: unknown) => e,
  )
  if (!(error instanceof TrunklineError)) throw new Error(`no failure of ours: ${error}`)
  if (error.code !== 'document_unreachable') throw new Error(`another code: ${error.code}`)
  return error
}
/** Reason of the failure. */
export const reasonOf = async (promise: Promise<unknown>) => (await failureOf(promise)).facts.reason
