import { once } from 'node:events'
import { expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openStandIns } from './open-stand-ins.ts'
import { scriptOf } from './read-script.ts'

it('the text server of the stand-ins greets, answers by its script, is interrupted, and ends', async () => {
  const rules = [
    { when: 'begin', do: [{ say: 'Good day.' }] },
    { when: { interrupted: true }, do: [{ say: 'Sorry.' }] },
    { when: { contains: ['long'] }, do: [{ say: 'One' }, { after: 100_000 }, { say: 'Two' }] },
    { when: { contains: ['human'], offers: ['transfer'] }, do: [{ call: { arguments: { to: 'desk' } } }] },
    { when: { pattern: '^7$' }, do: [{ quirk: 'unknown' }, { error: 'server' }] },
  ]
  const standIns = await openStandIns({ script: scriptOf({ rules }) })
  const messages: Record<string, unknown>[] = []
  const open = async () => {
    const socket = new WebSocket(`${standIns.wsUrl}/relay`)
    socket.on('message', (data) => messages.push(JSON.parse(String(data))))
    await once(socket, 'open')
    return { socket, send: (message: object) => socket.send(JSON.stringify(message)) }
  }
  const takes = async (count: number) => {
    await expect.poll(() => messages.length).toBe(count)
    return messages.splice(0).map(({ token, ...rest }) => token ?? rest)
  }
  const { socket, send } = await open()
  const prompt = (voicePrompt: string, last = true) => send({ type: 'prompt', voicePrompt, lang: 'en', last })
  send({ type: 'setup', sessionId: 's' })
  expect(await takes(3)).toEqual(['Good', ' day.', ''])
  prompt('Something long', false)
  prompt('Something long.')
  expect(await takes(2)).toEqual(['One', ''])
  send({ type: 'interrupt', utteranceUntilInterrupt: 'One', durationUntilInterruptMs: 300 })
  prompt('Stop.')
  expect(await takes(2)).toEqual(['Sorry.', ''])
  prompt('A human, please.')
  const handoffData = '{"function":"transfer","arguments":{"to":"desk"}}'
  expect(await takes(1)).toEqual([{ type: 'end', handoffData }])
  const closed = once(socket, 'close')
  send({ type: 'dtmf', digit: '7' })
  expect(await takes(1)).toEqual([{ type: 'unknown' }])
  expect((await closed)[0]).toBe(1011)
  await standIns.close()
})
