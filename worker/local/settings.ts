import { join, resolve } from "node:path";
import {
  defaultOf,
  LocalSettings,
  readSettings,
  ServiceSettings,
  textsOf,
  type Variables,
} from "../settings.ts";

/** The folder that holds package.json. */
export const ROOT = join(import.meta.dirname, "..", "..");

/** The settings of the local service. */
export interface Settings {
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
  /** Comma-separated `KEY` or `PROJECT:KEY`. Defaults to one stored in the state folder. */
  api_keys?: string;
  /** Folder of everything that the service stores. */
  state_dir: string;
  /** Variables of the service Worker. */
  vars: Record<string, string>;
  /** The token that the native encoders of `NATIVE_ENCODER_URL` require. */
  native_token?: string;
  /** The key that `npm run keys` manages keys with. Defaults to one stored in the state folder. */
  operator_key?: string;
  /** Keys that encrypt the secrets of connections, comma-separated, newest first. Defaults to one stored in the state folder. */
  connection_keys?: string;
}

/** Reads the settings from environment variables; throws a {@link SettingsError}. */
export function parseSettings(env: Variables): Settings {
  const { PORT, STATE_DIR } = readSettings(LocalSettings, env);
  const texts = textsOf(LocalSettings, env);
  const vars: Record<string, string> = {};
  for (const [name, field] of Object.entries(LocalSettings.shape)) {
    const serviceField: unknown = (ServiceSettings.shape as Record<string, unknown>)[name];
    const text = texts[name] ?? (field === serviceField ? undefined : defaultOf(field));
    if (serviceField !== undefined && text !== undefined) vars[name] = text;
  }
  const { API_KEYS, OPERATOR_KEY, NATIVE_ENCODER_TOKEN, CONNECTION_KEYS, ...rest } = vars;
  return {
    port: PORT,
    state_dir: resolve(STATE_DIR),
    vars: rest,
    ...(API_KEYS !== undefined && { api_keys: API_KEYS }),
    ...(OPERATOR_KEY !== undefined && { operator_key: OPERATOR_KEY }),
    ...(NATIVE_ENCODER_TOKEN !== undefined && { native_token: NATIVE_ENCODER_TOKEN }),
    ...(CONNECTION_KEYS !== undefined && { connection_keys: CONNECTION_KEYS }),
  };
}
