import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Log } from '../core/log.ts'
import { ServiceManager } from './service-manager.ts'

/** A program in place of `systemd-notify`, which keeps its arguments and ends with this code. */
const setUp = (code: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-notify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'notify')
  const kept = join(folder, 'kept')
  writeFileSync(program, `#!/bin/sh\necho "$@" >>${kept}\nexit ${code}\n`)
  chmodSync(program, 0o755)
  const error = vi.fn()
  const log = { error } as unknown as Log
  const sent = () => (existsSync(kept) ? readFileSync(kept, 'utf8') : '')
  return { manager: new ServiceManager('/run/systemd/notify', log, program), error, log, program, sent }
}

it('systemd learns that the gateway is ready, and that it ends', async () => {
  const { manager, error, sent } = setUp(0)
  manager.notify('ready')
  manager.notify('stopping')
  await expect.poll(sent).toBe('READY=1\nSTOPPING=1\n')
  expect(error).not.toHaveBeenCalled()
})

it('a notification that fails is repeated and logged, and without systemd none is sent', async () => {
  const { manager, error, log, program, sent } = setUp(1)
  new ServiceManager(undefined, log, program).notify('stopping')
  manager.notify('ready')
  await expect.poll(() => error.mock.calls.length).toBe(1)
  expect(error.mock.calls[0]).toMatchObject([
    { event: 'systemd.notification-failed', state: 'ready' },
    /systemd/,
  ])
  expect(sent()).toBe('READY=1\n'.repeat(3))
})
