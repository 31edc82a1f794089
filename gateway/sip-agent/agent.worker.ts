import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { SystemClock } from '../clock.ts'
import { Agent } from './agent.ts'
import type { FromWorker, OwnRefusal, SipAgentChange, SipAgentOptions, ToWorker } from './types.ts'
import { TimerWheel } from './wheel.ts'

const port = parentPort
if (!port) throw new Error('the SIP agent runs in a worker thread')
const { options, secret } = workerData as { options: SipAgentOptions; secret: string }
const tell = (message: FromWorker) => port.postMessage(message)
const fault = (error: unknown) =>
  tell({ kind: 'fault', problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
// Once for the whole thread: a TLS context with a list of some hundred authorities of its own takes 100 ms.
if (!options.tls?.ca && options.listen.some(({ transport }) => transport === 'tls' || transport === 'wss')) {
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
const refused = (refusal: OwnRefusal) => tell({ kind: 'refused', refusal })
const clock = new TimerWheel(new SystemClock(), fault)
const agent = new Agent({ ...options, secret, clock, fault, refused })

/** What cannot be used changes nothing, and must not end the calls that are up. */
const change = (asked: SipAgentChange) => {
  try {
    agent.change(asked)
  } catch (error) {
    fault(error)
  }
}

/** With nothing left open the thread ends by itself. */
const end = () => {
  agent
    .close()
    .catch(fault)
    .finally(() => port.close())
}

port.on('message', (asked: ToWorker) => {
  if (asked.kind === 'stats') return tell({ kind: 'stats', stats: agent.stats })
  if (asked.kind === 'change') return change(asked.change)
  if (asked.kind === 'failed-sign-in') return agent.failedSignIn(asked.address)
  end()
})

agent.start(options.listen).then(
  (bound) => tell({ kind: 'ready', port: bound, addresses: agent.addresses }),
  (error: Error) => {
    tell({ kind: 'failed', problem: error.message })
    end()
  },
)
