import { messageRoles } from '../../../calling/operations/agent-commands.ts'
import { flag, needsOne, object, oneOf, type Schema, text } from './schema-builders.ts'

/** Parameters of the commands to the voice agent of a call, with the text of each command. */
export const agentCommandParams: Readonly<Record<string, readonly [text: string, params: Schema]>> = {
  'calling.ai_hold': [
    'Puts the voice agent of a call on hold after its present words: it neither listens nor speaks.',
    object({
      timeout: {
        type: ['string', 'integer'],
        pattern: '^-?[0-9]{1,9}$',
        description:
          'Longest hold in seconds, also as text; default 300, also in place of a number above 900.',
      },
      prompt: text('Text that the agent speaks, word for word, before the hold.'),
    }),
  ],
  'calling.ai_unhold': [
    'Resumes a voice agent.',
    object({ prompt: text('Instruction for the agent, which answers to it.') }),
  ],
  'calling.ai_message': [
    'Adds a message to the conversation with a voice agent, or changes its role or its data.',
    object(
      {
        role: oneOf(messageRoles, 'Role of the message; default system.'),
        message_text: text('Text. The agent answers, unless the role is assistant.'),
        reset: object(
          {
            full_reset: flag('Whether the history is dropped; default false.'),
            user_prompt: text('Message of a user that follows.'),
            system_prompt: text('Prompt in place of the present one.'),
          },
          { description: 'Another role in the same conversation.' },
        ),
        global_data: { type: 'object', description: 'Values to set in the global data of the agent.' },
      },
      needsOne('message_text', 'reset', 'global_data'),
    ),
  ],
  'calling.ai_stop': [
    'Ends the conversation with a voice agent. Its document continues.',
    object({
      control_id: text('Id that the client gave the agent. It has no effect: a call has one agent.'),
    }),
  ],
}
