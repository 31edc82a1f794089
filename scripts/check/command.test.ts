import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const root = dirname(dirname(import.meta.dirname))

/** Runs `scripts/test` with arguments that end it before its set-up. */
const run = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(join(root, 'scripts', 'test'), args, {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

it('scripts/test --help explains each option', () => {
  const { status, stdout } = run('--help')
  expect(status).toBe(0)
  for (const option of ['PATH...', '--fast', '--watch', '--help']) expect(stdout).toContain(option)
})

it.each([
  [['--slow'], 'unknown option --slow'],
  [['counts.test.ts', '--slow'], 'unknown option --slow'],
  [['--fast', 'counts.test.ts'], '--fast takes no paths'],
  [['--watch', '--fast'], '--fast does not go with --watch'],
  [['no/such/file.test.ts'], 'no file or folder no/such/file.test.ts'],
  [['/etc/hosts'], '/etc/hosts is outside of '],
])('scripts/test rejects %j', (args, message) => {
  const { status, stderr } = run(...args)
  expect(status).toBe(2)
  expect(stderr).toContain(message)
  expect(stderr).toContain('usage: scripts/test')
})
