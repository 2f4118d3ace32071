import type { Services } from '../../../platform/services.ts';
import type { Guests } from './guests.ts';

/** Services of the workflows and loops that enter guests; their database role is `gpuaas_app_runtime`. */
export interface RuntimeServices extends Services {
  guests: Guests;
}
