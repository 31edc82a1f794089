import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { excerptOf } from './failure-report.ts'
import { Program } from './program.ts'

const root = dirname(dirname(import.meta.dirname))

/** Runs Vitest with a file of these tests, and returns its output. */
const reportOf = async (tests: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'failing-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const imports = `
    import { expect, it } from 'vitest'
    import { reportOnFailure } from '${join(root, 'test/support/failure-report.ts')}'
    import { Program } from '${join(root, 'test/support/program.ts')}'`
  writeFileSync(join(folder, 'failing.test.ts'), imports + tests)
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const run = new Program(process.execPath, [vitest, 'run', '--root', folder, '--no-color'], { cwd: folder })
  await run.end()
  return run.lines.join('\n')
}

it('the failure report shows the output of each peer during the failed test only', async () => {
  const report = await reportOf(`
    const early = []
    reportOnFailure('gateway', () => early)
    it('passes', async () => {
      early.push('of another test')
      await new Program('sh', ['-c', 'echo of a test that passes'], {}).end()
    })
    it('fails', async () => {
      early.push('refused')
      const peer = () => new Program('sh', ['-c', 'echo said; echo wrong >&2'], { name: 'callee' })
      await Promise.all([peer().end(), peer().end()])
      await new Program('sh', ['-c', 'true'], { name: 'silent' }).end()
      expect(1).toBe(2)
    })`)
  expect(report).toContain('Output during “fails”')
  expect(report).toMatch(
    /-- gateway\nrefused\n-- callee\n(said\nwrong|wrong\nsaid)\n-- callee #2\n(said|wrong)\n/,
  )
  expect(report).not.toContain('\nof another test')
  expect(report).not.toContain('\nof a test that passes')
  expect(report).not.toContain('-- silent')
  expect(report).toContain('1 failed | 1 passed')
})

it('the failure report shows the output of each peer between the tests around a failed hook', async () => {
  const report = await reportOf(`
    import { afterAll, beforeAll, describe } from 'vitest'
    const lines = []
    reportOnFailure('gateway', () => lines)
    describe('first', () => {
      it('passes', () => lines.push('of a test that passes'))
    })
    describe('second', () => {
      beforeAll(() => {
        lines.push('refused')
        throw new Error('no peer')
      })
      it('never runs', () => {})
    })
    describe('third', () => {
      it('passes, too', () => lines.push('of a later test'))
    })
    afterAll(() => {
      lines.push('stopped')
      throw new Error('a call remains')
    })`)
  expect(report).toContain('Output during “the hooks of second”\n-- gateway\nrefused\n')
  expect(report).toMatch(/Output during “the hooks of .*failing.test.ts”\n-- gateway\nstopped\n/)
  expect(report.match(/Output during “the hooks of/g)).toHaveLength(2)
  expect(report).not.toContain('\nof a')
})

it('the failure report shows the messages of peers within the test process', async () => {
  const report = await reportOf(`
    import { traceOnFailure } from '${join(root, 'test/support/failure-report.ts')}'
    const trace = traceOnFailure('caller')
    it('passes', () => trace('sent', 'of another test'))
    it('fails', () => {
      trace('sent', 'OPTIONS sip:a@b SIP/2.0\\r\\nCSeq: 1 OPTIONS\\r\\n\\r\\n')
      trace('received', Buffer.from('SIP/2.0 200 OK'))
      expect(1).toBe(2)
    })`)
  expect(report).toMatch(
    /-- caller\nsent at .*:\n {2}OPTIONS sip:a@b SIP\/2.0\n {2}CSeq: 1 OPTIONS\nreceived at .*:\n {2}SIP\/2.0 200 OK\n/,
  )
  expect(report).not.toContain('\n  of another test')
})

it('the failure report cuts long output at its beginning, and long lines at their end', () => {
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i}`)
  const [title, first] = excerptOf('gateway', lines).split('\n')
  expect([title, first]).toEqual(['-- gateway, without its first 180 lines', 'line 180'])
  const long = excerptOf('gateway', ['x'.repeat(5_000), 'last'])
  expect(long).toBe(`-- gateway\n${'x'.repeat(600)}…\nlast`)
  expect(excerptOf('gateway', Array(100).fill('y'.repeat(600))).length).toBeLessThan(12_100)
})
