/**
 * Child processes that `scripts/bench sip` measures. `both`: agent in its thread and application, as in the
 * gateway. `agent`: agent on the main thread, so that its memory can be measured. `app <port> <secret>`:
 * application.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startSipAgent } from '@trunkline/sip-agent'
import Srf, { type SrfRequest, type SrfResponse } from 'drachtio-srf'
import { Agent } from '../../sip-agent/agent.ts'
import { SystemClock } from '../../sip-agent/clock.ts'
import { TimerWheel } from '../../sip-agent/timer-wheel.ts'

/** Resource use of a party. */
export interface Figures {
  /** CPU of the whole process and of its main thread alone, in ms. */
  readonly cpu: number
  readonly mainCpu: number
  /** Heap and buffers in bytes, after a collection. */
  readonly heap: number
  /** Number of the agent's transactions and dialogs; 0 without an agent. */
  readonly held: number
}

/** First message of a party: its SIP port, and the port and secret for applications. */
export interface Ready {
  readonly sip: number
  readonly port: number
  readonly secret: string
}

const localSdp =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP ' +
  '8\r\na=ptime:20\r\n'

/** Connects the trivial application, which sends 180 and 200 for each call. */
const answerAll = async (port: number, secret: string): Promise<void> => {
  const srf = new Srf()
  srf.on('error', () => {})
  srf.invite((req: SrfRequest, res: SrfResponse) => {
    res.send(180)
    srf.createUAS(req, res, { localSdp }).then(
      (dialog) => dialog.on('destroy', () => {}),
      () => {},
    )
  })
  await new Promise<void>((resolve) => {
    srf.once('connect', () => resolve())
    srf.connect({ host: '127.0.0.1', port, secret })
  })
}

const listen = [{ transport: 'udp', address: '127.0.0.1', port: 0 }] as const
/** Options of the agent; the limit exceeds all transactions of 32 s. */
const options = { maxTransactions: 1_000_000 }
const [mode, port = '', secret = ''] = process.argv.slice(2)
let held = async () => 0
const ready: { -readonly [key in keyof Ready]: Ready[key] } = { sip: 0, port: Number(port), secret }

if (mode === 'both') {
  const agent = await startSipAgent({ listen, ...options })
  held = async () => {
    const { transactions, dialogs } = await agent.stats()
    return transactions + dialogs
  }
  ready.sip = agent.addresses[0]?.port ?? 0
  await answerAll(agent.port, agent.secret)
} else if (mode === 'agent') {
  const fault = (error: unknown) => console.error(error)
  const agent = new Agent({
    ...options,
    secret: 'bench',
    clock: new TimerWheel(new SystemClock(), fault),
    fault,
  })
  ready.port = await agent.start(listen)
  ready.secret = 'bench'
  ready.sip = agent.addresses[0]?.port ?? 0
  held = async () => agent.stats.transactions + agent.stats.dialogs
} else await answerAll(Number(port), secret)

process.on('message', async () => {
  const all = process.cpuUsage()
  const main = process.threadCpuUsage()
  const kept = await held()
  // Objects with finalisers are released by the next collection only.
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await sleep(50)
  }
  const { heapUsed, external } = process.memoryUsage()
  const figures: Figures = {
    cpu: (all.user + all.system) / 1000,
    mainCpu: (main.user + main.system) / 1000,
    heap: heapUsed + external,
    held: kept,
  }
  process.send?.(figures)
})
process.on('disconnect', () => process.exit(0))
process.send?.(ready)
