import { describe, expect, it } from 'vitest'
import { settle } from '../testing/fake-timers.ts'
import { SessionRig } from './testing/session-rig.ts'

const url = 'https://ann:secret@x.example/report'
const document = (params: object = {}) => ({
  params: { save_conversation: true, conversation_id: 'ann-1', ...params },
  post_prompt_url: url,
})
const starting = async (reply: string | Error, params: object = {}) => {
  const rig = new SessionRig()
  rig.context.documents[url] = reply
  const agent = await rig.start(document(params))
  return { rig, agent }
}

describe('an earlier conversation', () => {
  it('is fetched before the agent starts, and added to the history', async () => {
    const convo = [{ role: 'user', content: 'Hi' }]
    const { rig, agent } = await starting('{"conversation_summary":"Ann likes tea."}', { convo })
    expect(rig.asked).toEqual([
      expect.objectContaining({
        action: 'fetch_conversation',
        content_disposition: 'agent.load_conversation',
        conversation_id: 'ann-1',
        call_id: rig.call.info.callId,
      }),
    ])
    expect(agent.options.history).toEqual([
      { role: 'system', content: 'Earlier conversation: Ann likes tea.' },
      { role: 'user', content: 'Hi' },
    ])
  })

  it.each(['', '{}', '[]', '{"conversation_summary":""}'])('is none in the reply %j', async (reply) => {
    const { rig, agent } = await starting(reply)
    expect([agent.options.history, rig.warnings]).toEqual([[], []])
  })

  it.each(['<html>', new Error('HTTP 500')])('is none with a warning after %s', async (reply) => {
    const { rig, agent } = await starting(reply)
    expect(agent.options.history).toEqual([])
    expect(rig.warnings.join()).toMatch(/earlier conversation is not known/)
    expect(rig.warnings.join()).not.toContain('secret')
  })

  it('is not fetched without an id, or if the document does not keep it', async () => {
    for (const params of [{ conversation_id: '' }, { save_conversation: false }]) {
      const { rig } = await starting('{"conversation_summary":"x"}', params)
      expect(rig.asked).toEqual([])
    }
  })

  it('is summarized for the next one at the end, without a prompt for it', async () => {
    const { rig, agent } = await starting('{}')
    agent.end({ kind: 'stopped' })
    await settle()
    const [report] = rig.sent('agent-report')
    expect(report).toMatchObject({ conversation_summary: 'They talked.', conversation_id: 'ann-1' })
    expect(report).not.toHaveProperty('post_prompt_data')
  })
})
