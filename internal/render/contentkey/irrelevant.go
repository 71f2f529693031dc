package contentkey

import (
	"regexp"
	"strings"
)

// padding is a member that fills a gap between others.
var padding = regexp.MustCompile(`^_?pad_?[0-9]*$`)

// reason says why no picture comes from a member.
type reason string

const (
	computed  reason = "Blender computes it when it loads the file or before it renders"
	ui        reason = "it is part of the user interface, such as a selection or an active item"
	editing   reason = "only tools read it while somebody edits"
	viewport  reason = "only the viewport is drawn with it, which no Cycles render shows"
	thumbnail reason = "it is a preview of the data-block for lists"
	session   reason = "it identifies the data-block during one run of Blender"
	ordered   reason = "the order sets the frame or the output before each render"
	eevee     reason = "only EEVEE reads it of a light"
	sound     reason = "it is heard, and not seen"
)

// irrelevantInScenes has, for each struct of scenes and objects, members that no picture comes from. To add one, find the
// code of Blender that reads it, for every version that is supported, and let the pairs of
// edits confirm it (internal/test/corpus/scenes/revisions.py).
func irrelevantInScenes() map[string]map[reason]string {
	return map[string]map[reason]string{
		"ID": {
			session:  "session_uuid session_uid newid orig_id py_instance",
			computed: "next prev tag us recalc recalc_up_to_undo_push recalc_after_undo_push runtime",
			ui:       "icon_id flag",
			editing:  "asset_data library_weak_reference",
		},
		"Library": {computed: "filedata temp_index runtime tag versionfile subversionfile filepath filepath_abs"}, // the path counts: it is name
		"Object": {
			computed:  "runtime drawdata sculpt base_flag",
			ui:        "mode restore_mode actcol actdef actfmap base_local_view_bits",
			viewport:  "avs mpath ima_ofs",
			thumbnail: "preview",
		},
		"Base": {computed: "base_orig", ui: "flag_legacy local_view_bits local_collections_bits"},
		"ViewLayer": {
			computed: "stats object_bases_array object_bases_hash drawdata",
			ui:       "basact active_collection active_aov active_lightgroup",
		},
		"LayerCollection": {computed: "runtime_flag", ui: "local_collections_bits"},
		"Scene": {
			computed:  "drawdata depsgraph_hash fps_info sound_scene playback_handle sound_scrub_handle speaker_handles runtime",
			ui:        "basact cursor safe_areas transform_spaces orientation_slots active_keyingset",
			editing:   "toolsettings keyingsets gpd customdata_mask customdata_mask_modal",
			viewport:  "display",
			thumbnail: "preview",
			sound:     "audio",
		},
		"SceneEEVEE": {viewport: "light_cache light_cache_data light_cache_info"},
		"RenderData": {
			ordered:  "pic",
			ui:       "psfra pefra actlay actview",
			viewport: "preview_pixel_size seq_prev_type seq_rend_type",
			editing:  "bake bake_mode bake_flag bake_filter bake_samples bake_margin_type bake_biasdist bake_user_scale",
		},
	}
}

// irrelevantInData is irrelevant for the structs of animation, shading, geometry and rigs.
func irrelevantInData() map[string]map[reason]string {
	return map[string]map[reason]string{
		"FCurve": {
			computed: "curval prev_norm_factor prev_offset",
			ui:       "active_keyframe_index color_mode color",
			editing:  "auto_smoothing",
			ordered:  "totvert extend", // the keys, and what is beyond them, count instead: see curves.go
		},
		"bActionGroup": {ui: "customCol cs"},
		"bAction":      {ui: "active_marker markers", thumbnail: "preview"},
		"AnimData":     {ui: "act_track actstrip", computed: "driver_array"},
		"ChannelDriver": {
			computed: "curval expr_comp expr_simple",
		},
		"DriverVar": {computed: "curval"},
		"bNode": {
			computed: "typeinfo original level done need_exec update tmp_flag iter_flag stack_index runtime internal_links",
			ui:       "color locx locy location width height miniwidth offsetx offsety anim_init_locx anim_ofsx totr prvr preview_xsize preview_ysize label",
		},
		"bNodeSocket": {
			computed: "typeinfo stack_index cache own_index to_index link ns runtime total_inputs",
			ui:       "locx locy display_shape",
		},
		"bNodeTree": {
			computed:  "typeinfo uitype is_updating done previews execdata progress stats_draw test_break update_draw tbh prh sdh udh runtime",
			ui:        "view_center cur_index active_viewer_key gpd",
			thumbnail: "preview",
		},
		"Material": {
			computed:  "gpumaterial texpaintslot tot_slots",
			ui:        "paint_active_slot paint_clone_slot",
			thumbnail: "preview pr_type pr_texture pr_flag",
		},
		"World": {computed: "drawdata gpumaterial", thumbnail: "preview pr_texture"},
		"Lamp": {
			thumbnail: "preview pr_texture",
			eevee:     "cascade_max_dist cascade_exponent cascade_fade cascade_count contact_dist contact_bias contact_thickness contact_spread bleedbias bleedexp bufsize",
		},
		"Tex":  {thumbnail: "preview"},
		"Mesh": {computed: "runtime edit_mesh", ui: "vertex_group_active_index attributes_active_index act_face mselect totselect"},
		"CustomData": {
			computed: "pool typemap",
		},
		"Camera": {computed: "runtime", viewport: "drawsize passepartalpha dtx"},
		"Image": {
			computed:  "cache gputexture anims rr renderslots lastframe gpuframenr gpuflag gpu_pass gpu_layer gpu_view lastused runtime",
			ui:        "render_slot last_render_slot active_tile_index",
			thumbnail: "preview",
		},
		"Collection": {
			computed:  "object_cache object_cache_instanced parents view_layer collection runtime tag",
			ui:        "color_tag",
			thumbnail: "preview",
		},
		"ModifierData": {computed: "error runtime execution_time session_uuid", ui: "ui_expand_flag layout_panel_open_flag"},
		"bConstraint":  {computed: "lin_error rot_error", ui: "ui_expand_flag"},
		"bPose":        {computed: "chanhash chan_array ctime ikdata", viewport: "avs", ui: "active_group agroups"},
		"bPoseChannel": {
			computed: "iktree siktree temp draw_data orig_pchan runtime",
			viewport: "mpath",
			ui:       "selectflag agrp_index",
		},
		"bArmature": {computed: "bonehash edbo needs_flush_to_id runtime", ui: "act_bone act_edbone"},
		"ColorBand": {ui: "cur"},
		"CurveMapping": {
			computed: "changed_timestamp",
			ui:       "cur",
		},
		"CurveProfile": {computed: "changed_timestamp"},
		"IDProperty":   {computed: "saved"},
	}
}

// irrelevantBits are bits of flags that no picture comes from: selections, active and
// expanded items.
func irrelevantBits() map[string]uint32 {
	return map[string]uint32{
		"Object.flag":       1 << 0,                                                        // SELECT
		"Base.flag":         1 << 0,                                                        // BASE_SELECTED
		"FCurve.flag":       1<<0 | 1<<1 | 1<<2,                                            // visible in the editor, selected, active
		"bActionGroup.flag": 1<<0 | 1<<1 | 1<<3 | 1<<5 | 1<<6,                              // selected, active, expanded, hidden in the editor
		"bAction.flag":      1 << 1,                                                        // ACT_SELECTED
		"AnimData.flag":     1<<14 | 1<<15,                                                 // selected and active in the editor
		"bNode.flag":        1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4,                              // selected, options and preview shown, collapsed, active
		"bPose.flag":        1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<7 | 1<<8 | 1<<9 | 1<<10, // what editing asks for, and what Blender learns of constraints
		"Bone.flag":         1<<0 | 1<<1 | 1<<2,                                            // the bone, its root and its tip are selected
		"Collection.flag":   1<<3 | 1<<5,                                                   // which caches Blender has filled
		"ModifierData.flag": 1 << 2,                                                        // the active one
		"RenderData.flag":   1<<0 | 1<<3,                                                   // the preview range is on, subframes are shown
		"TimeMarker.flag":   1 << 0,                                                        // SELECT
	}
}

// computedSockets are sockets of the Principled BSDF that it has with some settings only. Blender
// computes that for these when it loads a file, whatever the file says of it; a script can say
// it of others.
const computedSockets = "|Subsurface IOR|Subsurface Anisotropy|Transmission Roughness|"

// unavailable is the bit that says it: SOCK_UNAVAIL of bNodeSocket.flag.
const unavailable = 1 << 3

// matrices are members that Blender computes from others before it renders; where objects
// depend on each other in a circle, it begins with what the file has.
func matrices() map[string]string {
	return map[string]string{
		"Object":       " obmat imat constinv ",
		"bPoseChannel": " chan_mat pose_mat disp_mat disp_tail_mat constinv pose_head pose_tail ",
	}
}

// times are members that say where the scene's timeline begins and ends, and in which frame
// it was saved. They do not change the picture of a frame, except where it shows them or
// something is computed along them.
func times() map[string]string {
	return map[string]string{"RenderData": " sfra efra frame_step cfra subframe "}
}

// unsaved are data-blocks that only the user interface consists of. No scene renders them,
// and toolsettings, which leads to them, is irrelevant.
const unsaved = " WM WS SR SN BR PL PC "

// viewportSetting reports whether a setting of Cycles in a scene is one of the viewport.
// Cycles reads these only when it draws there.
func viewportSetting(name string) bool {
	return strings.HasPrefix(name, "preview_") || strings.HasPrefix(name, "use_preview_")
}

// nameless are kinds of data-blocks whose own name no picture shows, unless a path mentions
// it: everything finds them by pointers. For objects and collections see objectNames.
const nameless = " ME CU LA CA WO TE AC KE NT AR IM MA "

// readsNames are nodes that show random numbers of names, sort by names, or run a script.
const readsNames = " ShaderNodeObjectInfo ShaderNodeParticleInfo ShaderNodeHairInfo ShaderNodeScript GeometryNodeCollectionInfo "

// among reports whether names contains name between spaces.
func among(name, names string) bool { return strings.Contains(names, " "+name+" ") }
