import Srf, { type SrfRequest, type SrfResponse } from 'drachtio-srf'
import { type SipAgent, type SipAgentOptions, startSipAgent } from '../index.ts'
import { sameThread } from './same-thread.ts'

/** An agent on free ports with one connected application, for tests. */
export interface TestAgent {
  readonly agent: SipAgent
  readonly srf: Srf
  readonly udp: number
  readonly tcp: number
  close(): Promise<void>
}

/** Connects one more drachtio-srf to an agent. */
export const connectSrf = async (agent: SipAgent): Promise<Srf> => {
  const srf = new Srf()
  srf.on('error', () => {})
  await new Promise<void>((resolve, reject) => {
    srf.once('connect', (error: Error | null) => (error ? reject(error) : resolve()))
    srf.connect({ host: agent.host, port: agent.port, secret: agent.secret })
  })
  return srf
}

/** Starts an agent on UDP and TCP with free ports, and connects drachtio-srf. */
export const startTestAgent = async (options: Partial<SipAgentOptions> = {}): Promise<TestAgent> => {
  const listen = [
    { transport: 'udp', address: '127.0.0.1', port: 0 },
    { transport: 'tcp', address: '127.0.0.1', port: 0 },
  ] as const
  const agent = await startSipAgent({ listen, ...options }, sameThread)
  const srf = await connectSrf(agent)
  const port = (transport: string) => agent.addresses.find((each) => each.transport === transport)?.port ?? 0
  return {
    agent,
    srf,
    udp: port('udp'),
    tcp: port('tcp'),
    close: async () => {
      srf.disconnect()
      await agent.close()
    },
  }
}

/**
 * Waits until the agent knows the application's routes. Routes arrive over TCP, requests over UDP: without
 * this wait, a request may be first, and is rejected with 503.
 */
export const routed = async (srf: Srf): Promise<void> => {
  // Frames are served in order, so the answer to this one proves that the earlier ones were served. It is
  // rejected at once, as no such transport is bound.
  const asking = srf as unknown as { request(uri: string, options: { method: string }): Promise<unknown> }
  await asking.request('sip:nobody@127.0.0.1;transport=none', { method: 'OPTIONS' }).catch(() => {})
}

/** Waits until the agent holds no dialog and no pending request; fails by the timeout of the test. */
export const idle = async (agent: SipAgent): Promise<void> => {
  for (;;) {
    const { dialogs, pending, unacknowledged } = await agent.stats()
    if (dialogs + pending + unacknowledged === 0) return
  }
}

const answers = new WeakMap<SrfRequest, Promise<SrfResponse>>()

/** Sends a request of the application. Resolves with the request as it was sent. */
export const request = (srf: Srf, uri: string, options: object): Promise<SrfRequest> =>
  new Promise((resolve, reject) => {
    const sent = (error: Error | null, req: SrfRequest) => {
      if (error) return reject(error)
      // The listener is added at once, because the answer may arrive in the same read.
      answers.set(req, finalOf(req))
      resolve(req)
    }
    srf.request(uri, options as never, sent as never, [])
  })

const finalOf = (req: SrfRequest): Promise<SrfResponse> =>
  new Promise((resolve) => {
    req.on('response', (response) => {
      if ((response as SrfResponse).status >= 200) resolve(response as SrfResponse)
    })
  })

/** Resolves with the final response to a request that {@link request} sent. */
export const answerTo = (req: SrfRequest): Promise<SrfResponse> => answers.get(req) ?? finalOf(req)
