import { type Call, type Invite, useCall, useIncomingCalls, useSignalWire } from '@trunkline/react'
import { type FormEvent, useState } from 'react'

/** Telephone: `<Phone host="gw.example.com" token={token} />`. */
export const Phone = ({ host, token }: { host?: string; token: string | undefined }) => {
  const { client, state, error, connect } = useSignalWire({ host, token })
  const { invites } = useIncomingCalls(client)
  const [call, setCall] = useState<Call>()

  const dial = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const to = String(new FormData(event.currentTarget).get('to'))
    const dialled = await client?.dial({ to })
    setCall(dialled)
    // A failure is shown by Talk as the call's reason.
    await dialled?.start().catch(() => {})
  }

  return (
    <main>
      <p role="status">{error ? error.message : state}</p>
      {state === 'disconnected' && (
        <button type="button" onClick={connect}>
          Connect
        </button>
      )}
      {invites.map((invite) => (
        <Ringing key={invite.details.callID} invite={invite} onAnswer={setCall} />
      ))}
      {call && <Talk key={call.id} call={call} />}
      <form onSubmit={dial}>
        <input name="to" placeholder="/public/bob" required />
        <button type="submit" disabled={!client}>
          Call
        </button>
      </form>
    </main>
  )
}

const Ringing = ({ invite, onAnswer }: { invite: Invite; onAnswer: (call: Call) => void }) => {
  const [failure, setFailure] = useState<string>()
  // If the microphone fails, the call continues to ring.
  const answer = () =>
    invite.accept({ audio: true }).then(onAnswer, (error: Error) => setFailure(error.message))
  return (
    <p>
      {invite.details.caller_id_number} calls {failure}
      <button type="button" onClick={answer}>
        Answer
      </button>
      <button type="button" onClick={() => invite.reject()}>
        Decline
      </button>
    </p>
  )
}

const Talk = ({ call }: { call: Call }) => {
  const { state, muted, reason } = useCall(call)
  if (state === 'ended') return <p>{reason?.message}</p>
  return (
    <p>
      {state}
      <button type="button" onClick={() => (muted.audio ? call.unmute() : call.mute())}>
        {muted.audio ? 'Unmute' : 'Mute'}
      </button>
      <button type="button" onClick={() => call.hangup()}>
        Hang up
      </button>
    </p>
  )
}
