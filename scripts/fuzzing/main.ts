/**
 * `scripts/fuzz [minutes] [seed]`: sends rounds of damaged SIP to a gateway. `scripts/fuzz composer [frames]
 * [seed]`: sends damaged VP8 to the composer.
 */

import { freePort } from '../../media/testing/free-ports.ts'
import { connectedDomain, FuzzPeer, fuzzedDomain } from '../../test/support/fuzz.ts'
import { Gateway } from '../../test/support/gateway.ts'
import { fuzzComposer } from './composer.ts'

if (process.argv[2] === 'composer') {
  const [frames = 100_000, seed = Date.now() % 1_000_000] = process.argv.slice(3).map(Number)
  process.exit(fuzzComposer(frames, seed) ? 0 : 1)
}

const [minutes = 5, firstSeed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number)
if (!(minutes > 0) || !Number.isInteger(firstSeed)) {
  console.error('usage: scripts/fuzz [minutes] [seed]')
  process.exit(2)
}

const script = (...main: readonly unknown[]) => ({
  kind: 'script',
  document: { version: '1.0.0', sections: { main } },
})

const port = await freePort()
const gateway = await Gateway.start({
  limits: { calls: 5_000 },
  rtpPorts: 10_000,
  domains: [
    { domain: fuzzedDomain, allow: ['127.0.0.0/8'], handler: script('answer', { sleep: 5_000 }) },
    {
      domain: connectedDomain,
      allow: ['127.0.0.0/8'],
      handler: script({ connect: { to: `sip:x@127.0.0.1:${port}`, timeout: 2 } }),
    },
  ],
})

/** Runs one round. Throws if the gateway leaks state or rejects the final call. */
const round = async (seed: number): Promise<void> => {
  const peer = await FuzzPeer.open(gateway, port, seed)
  try {
    await peer.requests(4_000)
    await peer.headers(2_000)
    await peer.calls(200)
    await peer.answers(250)
    await peer.settled()
  } finally {
    peer.close()
  }
  const errors = gateway.log.filter(({ level }) => level >= 50)
  if (errors.length > 0) throw new Error(`errors in the log: ${JSON.stringify(errors.slice(0, 3))}`)
  const { sent, answered, asked } = peer.counts
  console.log(
    `seed ${seed}: ${sent} messages, ${answered} answered calls, ${asked} damaged answers, nothing left`,
  )
}

const end = performance.now() + minutes * 60_000
let seed = firstSeed
try {
  do await round(seed++)
  while (performance.now() < end)
} catch (error) {
  console.error(`FAILED, repeat it with: scripts/fuzz 1 ${seed - 1}\n${(error as Error).message}`)
  process.exitCode = 1
} finally {
  await gateway.stop()
}
process.exit()
