/** Behaviour of the process around a command: closed pipes, full disks and errors of the system. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withVariables } from '../../config/environment.ts'

const main = join(import.meta.dirname, '..', 'main.ts')

const shell = (script: string) =>
  spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: withVariables({ TRUNKLINE: `${process.execPath} --disable-warning=ExperimentalWarning ${main}` }),
  })

it('ends quietly if the reader of its output has gone', () => {
  const { stderr, stdout } = shell('exec 3> >(:); wait $!; $TRUNKLINE --help >&3; echo $?')
  expect(stderr).toBe('')
  expect(stdout).toBe('141\n')
})

it.runIf(existsSync('/dev/full'))('fails if the disk is full', () => {
  const { stderr, stdout } = shell('$TRUNKLINE --help >/dev/full; echo $?')
  expect(stderr).toBe('trunkline: the disk is full (ENOSPC, write)\n')
  expect(stdout).toBe('1\n')
})

it('names the path of an error of the system in words', () => {
  const { stderr, stdout } = shell('$TRUNKLINE init --yes /nowhere/x.yaml; echo $?')
  expect(stderr).toBe('trunkline: /nowhere/x.yaml: there is no such file or folder (ENOENT, open)\n')
  expect(stdout).toBe('1\n')
})
