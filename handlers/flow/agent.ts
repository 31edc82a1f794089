import { text } from '../script/schema-builders.ts'
import { decide, type NodeKind } from './node.ts'

/**
 * Node that hands the caller to a voice agent. A flow cannot look up resources, so that the agent runs at its
 * address, as a call of its own.
 */
export const agent: NodeKind = {
  description: 'Connects the caller to a voice agent, and continues when the conversation has ended.',
  properties: {
    address: {
      ...text('Address /context/name of the agent.', 'an address such as /public/assistant'),
      pattern: '^/[^\\s/?#]{1,100}/[^\\s/?#]{1,100}$|[$%]\\{',
    },
  },
  required: ['address'],
  outcomes: ['ended', 'error'],
  compile: ({ address }, follow) => [
    { connect: { to: address } },
    ...decide([{ name: 'ended', when: "connect_result == 'connected'" }], follow, 'error'),
  ],
}
