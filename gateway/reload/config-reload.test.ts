import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../config/load.ts'
import { FakeClock } from '../core/clock.ts'
import { createLog } from '../core/log.ts'
import { Metrics } from '../core/metrics.ts'
import { ConfigFollowers, type PreparedStep } from '../directory/provision/config-followers.ts'
import type { Write } from '../directory/store/sqlite.ts'
import { ConfigReload } from './config-reload.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-reload-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const first = 'limits: { calls: 5 }\n'

/** A gateway of which only the reload is there; `done` is what its parts and its store did. */
const gateway = () => {
  const file = join(folder, 'trunkline.yaml')
  const write = (text: string, name = file) => writeFileSync(name, text)
  write(first)
  const done: string[] = []
  const lines: string[] = []
  const log = createLog({ level: 'info', pretty: false }, { write: (line) => lines.push(line) })
  const followers = new ConfigFollowers()
  const metrics = new Metrics()
  const clock = new FakeClock(1_000_000)
  const transaction = async (work: (write: Write) => Promise<void>) => {
    done.push('begin')
    try {
      await work({} as Write)
      done.push('committed')
    } catch (error) {
      done.push('rolled back')
      throw error
    }
  }
  const reload = new ConfigReload({
    file,
    followers,
    transaction,
    clock,
    log,
    metrics,
    started: readConfig(file, {}),
    read: (name) => readConfig(name, {}),
    warnings: () => ['a warning'],
  })
  const part = (name: string, step: Partial<PreparedStep> = {}) =>
    followers.add(name, () => ({
      commit: () => done.push(`${name} commits`),
      discard: () => void done.push(`${name} discards`),
      ...step,
    }))
  return { file, write, done, lines, followers, metrics, clock, reload, part }
}

const by = 'signal'

describe('a reload', () => {
  it('prepares, writes and commits all parts in order, and works by the new values from then on', async () => {
    const { write, done, part, reload, metrics, clock, lines } = gateway()
    part('one', { write: async () => void done.push('one writes') })
    part('two', { after: async () => void done.push('two reads') })
    write('limits: { calls: 6 }\nsip: { userAgent: other }\n')
    clock.advance(5_000)
    const result = await reload.reload({ by })
    expect(done).toEqual(['begin', 'one writes', 'committed', 'one commits', 'two commits', 'two reads'])
    expect(result).toMatchObject({
      outcome: 'applied',
      warnings: ['a warning'],
      applied: [{ path: 'limits.calls' }],
      restart: [{ path: 'sip.userAgent' }],
    })
    expect(reload.config.limits.calls).toBe(6)
    expect(reload.config.sip.userAgent).toBe('Trunkline')
    const text = await metrics.text()
    expect(text).toMatch(/^trunkline_config_reloads_total\{result="applied"\} 1$/m)
    expect(text).toMatch(/^trunkline_config_restart_keys 1$/m)
    expect(text).toMatch(/^trunkline_config_last_reload_timestamp_seconds 1005$/m)
    expect(lines.join('')).toContain('"event":"config.restart-needed","path":"sip.userAgent"')
  })

  it('names a key that needs a restart again, until it is as it was', async () => {
    const { write, reload } = gateway()
    write('sip: { userAgent: other }\nlimits: { calls: 5 }\n')
    expect((await reload.reload({ by })).outcome).toBe('unchanged')
    const again = await reload.reload({ by })
    expect(again.restart).toMatchObject([{ path: 'sip.userAgent', after: '"other"' }])
    write(first)
    expect((await reload.reload({ by })).restart).toEqual([])
  })

  it('changes nothing where a part cannot use it: what was prepared is given up', async () => {
    const { write, done, part, followers, reload, metrics } = gateway()
    part('one')
    followers.add('two', () => {
      throw new Error('no such key file')
    })
    part('three')
    write('limits: { calls: 6 }')
    const result = await reload.reload({ by })
    expect(result).toMatchObject({ outcome: 'failed', error: 'two: no such key file', applied: [] })
    expect(done).toEqual(['one discards'])
    expect(reload.config.limits.calls).toBe(5)
    expect(await metrics.text()).toMatch(/^trunkline_config_reloads_total\{result="failed"\} 1$/m)
  })

  it('changes nothing where the store takes none of it', async () => {
    const { write, done, part, reload } = gateway()
    part('one', {
      write: async () => {
        throw new Error('the address is taken')
      },
    })
    part('two')
    write('limits: { calls: 6 }')
    expect(await reload.reload({ by })).toMatchObject({
      outcome: 'failed',
      error: 'one: the address is taken',
    })
    expect(done).toEqual(['begin', 'rolled back', 'one discards', 'two discards'])
    expect(reload.config.limits.calls).toBe(5)
  })

  it('changes nothing for a file with faults, and tells their places', async () => {
    const { file, write, done, part, reload, lines } = gateway()
    part('one')
    write('limits:\n  calls: many\n')
    expect(await reload.reload({ by })).toMatchObject({
      outcome: 'invalid',
      file,
      faults: [{ line: 2, column: 10, path: 'limits.calls', message: 'must be a whole number' }],
    })
    rmSync(file)
    expect((await reload.reload({ by })).faults[0]?.message).toContain('there is no such file')
    expect(done).toEqual([])
    expect(lines[0]).toContain('line 2 limits.calls: must be a whole number')
  })

  it('lets the other parts take over where one fails by a defect', async () => {
    const { write, done, part, reload, lines } = gateway()
    part('one', {
      commit: () => {
        throw new Error('a defect')
      },
    })
    part('two', { after: async () => Promise.reject(new Error('the store is away')) })
    write('limits: { calls: 6 }')
    const result = await reload.reload({ by })
    expect(done).toEqual(['two commits'])
    expect(result.outcome).toBe('applied')
    expect(result.warnings).toEqual([
      'a warning',
      'one: a defect; restart the gateway',
      'two: the store is away',
    ])
    expect(lines[0]).toContain('config.commit-failed')
  })

  it('waits for the one before it', async () => {
    const { write, done, followers, reload } = gateway()
    const gate = Promise.withResolvers<void>()
    followers.add('slow', async (next, now) => {
      await gate.promise
      return { commit: () => done.push(`${now.limits.calls} to ${next.limits.calls}`) }
    })
    write('limits: { calls: 6 }')
    const both = [reload.reload({ by }), reload.reload({ by })]
    write('limits: { calls: 7 }')
    gate.resolve()
    await Promise.all(both)
    expect(done).toHaveLength(2)
    expect(done[1]).toBe(`${done[0]?.split(' ').at(-1)} to 7`)
  })

  it('is refused once the gateway is shutting down', async () => {
    const { write, done, part, reload } = gateway()
    part('one')
    write('limits: { calls: 6 }')
    reload.close()
    expect(await reload.reload({ by })).toMatchObject({ error: 'gateway: it is shutting down' })
    expect(done).toEqual([])
  })

  it('is given up where the gateway begins to shut down while parts are prepared', async () => {
    const { write, done, followers, part, reload } = gateway()
    part('one', { write: async () => void done.push('one writes') })
    followers.add('slow', () => {
      reload.close()
      return undefined
    })
    write('limits: { calls: 6 }')
    expect(await reload.reload({ by })).toMatchObject({ error: 'gateway: it is shutting down' })
    expect(done).toEqual(['one discards'])
  })

  it('takes over documents beside the file that have other contents', async () => {
    const { write, reload } = gateway()
    const document = join(folder, 'menu.xml')
    const text = 'resources: [{ address: /public/menu, handler: { kind: xml, file: menu.xml } }]'
    write('<Response/>', document)
    write(text)
    await reload.reload({ by })
    write('<Response><Hangup/></Response>', document)
    const result = await reload.reload({ by })
    expect(result.outcome).toBe('applied')
    expect(result.applied).toMatchObject([
      { path: 'resources[/public/menu].handler.file', hidden: 'contents' },
    ])
    expect(reload.config.resources[0]?.handler).toMatchObject({
      document: '<Response><Hangup/></Response>',
    })
  })
})

describe('the counters of reloads', () => {
  it('are zero at the start, so that an alert sees the first failure', async () => {
    const text = await gateway().metrics.text()
    for (const result of ['applied', 'unchanged', 'invalid', 'failed'])
      expect(text).toContain(`trunkline_config_reloads_total{result="${result}"} 0\n`)
  })
})

describe('a dry run', () => {
  it('prepares and writes, and takes all of it back', async () => {
    const { write, done, part, reload, metrics } = gateway()
    part('one', { write: async () => void done.push('one writes') })
    write('limits: { calls: 6 }')
    const result = await reload.reload({ by, dryRun: true })
    expect(result).toMatchObject({ outcome: 'valid', dryRun: true, applied: [{ path: 'limits.calls' }] })
    expect(done).toEqual(['begin', 'one writes', 'rolled back', 'one discards'])
    expect(reload.config.limits.calls).toBe(5)
    expect(await metrics.text()).not.toMatch(/^trunkline_config_reloads_total\{.*\} [1-9]/m)
  })

  it('with faults is no error of the gateway', async () => {
    const { write, reload, lines } = gateway()
    write('limits: { calls: none }')
    expect((await reload.reload({ by, dryRun: true })).outcome).toBe('invalid')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 30, event: 'config.reload-invalid', faults: [expect.stringContaining('limits.calls')] },
    ])
  })

  it('tries another file; a reload does not take one', async () => {
    const { write, reload, lines } = gateway()
    const other = join(folder, 'other.yaml')
    write('limits: { calls: 9 }', other)
    expect(await reload.reload({ by, dryRun: true, file: other })).toMatchObject({ outcome: 'valid' })
    const result = await reload.reload({ by, file: other })
    expect(result.outcome).toBe('failed')
    expect(result.error).toContain('another file can only be tried')
    expect(lines.filter((line) => line.includes('config.reload-failed'))).toHaveLength(1)
    expect(lines.join('')).not.toContain('stack')
    expect(reload.config.limits.calls).toBe(5)
  })

  it('and a reload may name the file by a link', async () => {
    const { file, write, reload } = gateway()
    const link = join(folder, 'link.yaml')
    symlinkSync(file, link)
    write('limits: { calls: 6 }')
    expect((await reload.reload({ by, dryRun: true, file: link })).outcome).toBe('valid')
    expect((await reload.reload({ by, file: link })).outcome).toBe('applied')
  })
})
