import { setTimeout as sleep } from 'node:timers/promises'
import { openStandIns } from '../../../gateway/stand-ins/open-stand-ins.ts'
import { Gateway } from '../../../test/support/gateway.ts'
import { family, memory } from '../processes.ts'
import { printFigure } from '../rooms/figures.ts'
import { agentDomain, enginesAt } from './stage.ts'

/** Time after the start at which the memory is read, in ms. */
const settleMs = 4000

/** Starts and stops a gateway. Returns its time to ready in ms, and its memory in MiB. */
const once = async (options: Parameters<typeof Gateway.start>[0]): Promise<readonly [number, number]> => {
  const began = performance.now()
  const gateway = await Gateway.start(options)
  const ms = performance.now() - began
  await sleep(settleMs)
  const mib = memory(family(gateway.pid)).reduce((sum, each) => sum + each.mib, 0)
  await gateway.stop()
  return [ms, mib]
}

/** Measures goal G17: the start and the memory of a gateway with and without agents in its configuration. */
export const idle = async (rounds = 5): Promise<void> => {
  const standIns = await openStandIns()
  const configured = { agents: enginesAt(standIns), domains: [agentDomain('whole', { engine: 'whole' })] }
  const without: (readonly [number, number])[] = []
  const withAgents: (readonly [number, number])[] = []
  for (let i = 0; i < rounds; i++) {
    without.push(await once({}))
    withAgents.push(await once(configured))
  }
  await standIns.close()
  printFigure(
    'G17 start without agents',
    without.map(([ms]) => ms),
  )
  printFigure(
    '– with agents configured',
    withAgents.map(([ms]) => ms),
  )
  printFigure(
    'G17 memory without agents',
    without.map(([, mib]) => mib),
    {},
    'MiB',
  )
  printFigure(
    '– with agents configured',
    withAgents.map(([, mib]) => mib),
    {},
    'MiB',
  )
}
