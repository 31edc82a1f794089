import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../../../handlers/reading/check-document.ts'
import { checksOf } from '../shared/document-checks.ts'
import { checkTransfer, readDial, readUpdate } from './calling-commands.ts'

const url = 'https://app.example.com/hello.json'
const check = checksOf({ check: async (_project, kind, text) => checkDocument(kind, text) }, 'p')
const of = { projectId: 'p', check }
const dial = { from: '+4930123', to: '+4940123', url }

describe('the status events of a call', () => {
  it.each([
    [{}, undefined],
    [{ status_url: url }, ['completed']],
    [{ status_url: url, status_events: [] }, ['completed']],
    [{ status_url: url, status_events: ['created', 'ended'] }, ['initiated', 'completed']],
    [{ status_events: ['created'] }, undefined],
  ])('requested as %o are %o', async (more, states) => {
    expect((await readDial({ ...dial, ...more }, of)).status?.states).toEqual(states)
  })

  it.each(['gone', 'constructor', '__proto__', 'toString', ''])(
    'are rejected: %j is not an event',
    async (event) => {
      const params = { ...dial, status_url: url, status_events: [event] }
      await expect(readDial(params, of)).rejects.toThrow(expect.objectContaining({ name: 'Refusal' }))
      await expect(readUpdate({ id: 'a', ...params }, check)).rejects.toThrow()
    },
  )
})

it('the variables of a call are strings, with any names', async () => {
  const custom_variables = JSON.parse('{"order": 7, "__proto__": "x", "vip": true}')
  const { variables } = await readDial({ ...dial, custom_variables }, of)
  expect(Object.entries(variables ?? {})).toEqual([
    ['order', '7'],
    ['__proto__', 'x'],
    ['vip', 'true'],
  ])
})

it.each(['ai', 'amazon_bedrock'])('a script with an agent (%s) is checked like any other', async (name) => {
  const swml = (agent: object) => ({
    version: '1.0.0',
    sections: { main: ['answer', { [name]: agent }] },
  })
  const good = swml({ prompt: { text: 'Hello' } })
  await expect(readDial({ ...dial, url: undefined, swml: good }, of)).resolves.toBeDefined()
  await expect(readUpdate({ id: 'a', swml: good }, check)).resolves.toBeDefined()
  const refusal = expect.objectContaining({ code: 'document_invalid', facts: { attribute: 'swml' } })
  await expect(readDial({ ...dial, url: undefined, swml: swml({}) }, of)).rejects.toThrow(refusal)
  await expect(readUpdate({ id: 'a', swml: JSON.stringify(swml({})) }, check)).rejects.toThrow(
    `/sections/main/1/${name}`,
  )
})

it('a script to which a call is transferred is checked, but not an address', async () => {
  await expect(checkTransfer({ dest: ' {"sections": {}}' }, check)).rejects.toThrow(
    expect.objectContaining({ code: 'document_invalid', facts: { attribute: 'dest' } }),
  )
  for (const dest of ['{"sections":{"main":["hangup"]}}', url, '/public/menu', undefined])
    await expect(checkTransfer({ dest }, check)).resolves.toBeUndefined()
})
