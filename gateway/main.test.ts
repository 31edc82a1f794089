import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-main-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Starts a command whose configuration is a pipe: it waits there until `write` writes the file. */
const start = async (command: string) => {
  const pipe = join(folder, 'trunkline.yaml')
  execFileSync('mkfifo', [pipe])
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, command, pipe], {
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  // The writer of a FIFO waits in open() until a reader opens it.
  const configuration = await open(pipe, 'w')
  const write = async (text: string) => {
    // A process that has ended reads no more.
    await configuration.writeFile(text).catch(() => {})
    await configuration.close()
    return await ended
  }
  return { child, write }
}

it('SIGHUP does not end a gateway that is starting', async () => {
  const { child, write } = await start('run')
  child.kill('SIGHUP')
  expect(await write('domains: nothing')).toEqual([2, null])
})

it('SIGHUP ends whatever does not run for long', async () => {
  const { child, write } = await start('check')
  child.kill('SIGHUP')
  expect(await write('')).toEqual([null, 'SIGHUP'])
})
