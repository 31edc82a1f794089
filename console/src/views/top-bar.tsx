import { texts } from '../texts/language.ts'
import { Icon } from './icon.tsx'
import { usePage } from './page.ts'
import { Avatar, Switch } from './parts.tsx'

/** Switch between online and offline. */
export const OnlineSwitch = () => {
  const { phone, setOnline } = usePage()
  return (
    <Switch
      id="online"
      label={texts.value.online}
      on={phone.isOnline}
      disabled={phone.isSwitching}
      testId="online"
      change={setOnline}
    />
  )
}

/** Header: presence, connection, account. */
export const TopBar = () => {
  const { account, phone, ui, microphone, extras } = usePage()
  const t = texts.value
  const { connection, isOnline } = phone
  const doNotDisturb = extras?.presence.doNotDisturb ?? false
  const state =
    connection === 'connected'
      ? doNotDisturb
        ? t.doNotDisturbHint
        : isOnline
          ? t.onlineHint
          : t.offlineHint
      : { connecting: t.connecting, reconnecting: t.reconnecting, disconnected: t.notConnected }[connection]
  return (
    <header class="top">
      <img src="/favicon.svg" alt="" width="24" height="24" />
      <h1>{t.appName}</h1>
      <p
        class={connection === 'connected' || connection === 'connecting' ? 'connection' : 'connection bar'}
        role="status"
        data-testid="connection"
        data-state={connection}
        data-online={isOnline}
      >
        {state}
      </p>
      {isOnline && microphone.isBroken && (
        <button
          type="button"
          class="warn"
          data-testid="devices-warning"
          onClick={() => {
            ui.dialog.value = 'devices'
          }}
        >
          <Icon name="alert" />
          <span>{t.callsWouldFail}</span>
          <b>{t.checkDevices}</b>
        </button>
      )}
      <div class="top-end">
        {!ui.narrow.value && <OnlineSwitch />}
        <button
          type="button"
          class="account"
          aria-label={t.account(account.name)}
          aria-haspopup="dialog"
          aria-expanded={ui.menu.value}
          data-testid="account"
          onClick={() => {
            ui.menu.value = !ui.menu.value
          }}
        >
          <Avatar name={account.name} />
          <i class={doNotDisturb ? 'dot stop' : isOnline ? 'dot on' : 'dot'} />
        </button>
      </div>
    </header>
  )
}
