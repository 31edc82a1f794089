import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { type AgentData, serveAgent } from './serve.ts'

if (!parentPort) throw new Error('the SIP agent runs in a worker thread')
const data = workerData as AgentData
const { tls, listen } = data.options
// Sets the authorities once for the whole thread. A TLS context with its own list of some hundred authorities
// takes 100 ms to create.
if (!tls?.ca && listen.some(({ transport }) => transport === 'tls' || transport === 'wss')) {
  setDefaultCACertificates([...new Set([...getCACertificates('default'), ...getCACertificates('system')])])
}
serveAgent(parentPort, data)
