import { afterEach, expect, it } from 'vitest'
import { application, scripted } from '../support/applications.ts'
import { Carrier } from '../support/carrier.ts'
import { Gateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

let gateway: Gateway

const start = async (drain: string): Promise<void> => {
  gateway = await Gateway.start({
    drain,
    domains: [application('stay.test', scripted('answer', { sleep: 60_000 }))],
  })
}

afterEach(() => gateway?.stop())

it('a gateway that drains rejects new calls with 503, lets calls end by themselves, and exits with 0', async () => {
  await start('10s')
  const talking = await Carrier.calls(gateway, { domain: 'stay.test', scenario: 'caller', holdMs: 'manual' })
  await talking.sipp.event('answered')
  gateway.terminate()
  await until(
    'not ready',
    () => fetch(`${gateway.url}/readyz`).then(({ status }) => status),
    (status) => status === 503,
  )
  const late = await Carrier.calls(gateway, {
    domain: 'stay.test',
    scenario: 'caller-refused',
    values: { status: 503 },
  })
  await late.done()
  await gateway.refusal('draining')
  await talking.goesOn()
  await talking.done()
  expect(await gateway.ended()).toBe(0)
})

it('a gateway that drains hangs up the remaining calls after the grace period, and exits with 0', async () => {
  await start('500ms')
  const talking = await Carrier.calls(gateway, { domain: 'stay.test', scenario: 'caller-released' })
  await talking.sipp.event('answered')
  gateway.terminate()
  await talking.done()
  expect(await gateway.ended()).toBe(0)
})

it('a gateway that drains without calls exits with 0 at once', async () => {
  // The grace period exceeds the time-out of the test.
  await start('10m')
  gateway.terminate()
  expect(await gateway.ended()).toBe(0)
})
