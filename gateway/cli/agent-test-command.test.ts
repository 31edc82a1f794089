import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Peer, testSdp } from '@trunkline/sip-agent/testing/peer'
import { expect, it, onTestFinished } from 'vitest'

const main = join(import.meta.dirname, '..', 'main.ts')

/** Starts the command with an agent at an address, and answers its call. */
const answered = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-test-command-'))
  const far = await Peer.udp()
  const file = join(folder, 'long.yaml')
  writeFileSync(file, JSON.stringify({ target: { address: far.uri }, caller: [{ pause: '60s' }] }))
  const command = spawn(process.execPath, [main, 'agent-test', file], { stdio: 'ignore' })
  const ended = once(command, 'exit')
  onTestFinished(() => {
    command.kill('SIGKILL')
    far.close()
    rmSync(folder, { recursive: true, force: true })
  })
  far.reply(await far.request('INVITE'), 200, { body: testSdp() })
  await far.request('ACK')
  return { far, command, ended }
}

/** Limit of a test that starts the whole command, for a machine that is busy with other work. */
const patience = 120_000

it('hangs up its calls at SIGTERM, and exits with 143', { timeout: patience }, async () => {
  const { far, command, ended } = await answered()
  command.kill('SIGTERM')
  far.reply(await far.request('BYE'), 200)
  expect(await ended).toEqual([143, null])
})

it('ends at once by a second SIGINT, with 130', { timeout: patience }, async () => {
  const { far, command, ended } = await answered()
  command.kill('SIGINT')
  await far.request('BYE')
  command.kill('SIGINT')
  expect(await ended).toEqual([130, null])
})
