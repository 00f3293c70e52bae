//! Any answer of a plug-in, however wrong, gives an answer or an error; and every object that it hands out is given back.

use pjrt_fake::{Make, live, require_room};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use xla_shape::element::{F32, S4, S32};
use xla_shape::{DynBuffer, ElementType};
use xla_shape_pjrt::abi::{API_MINOR, Api};
use xla_shape_pjrt::build::{Compile, Source};
use xla_shape_pjrt::{
    Client, CompileOptions, Compiled, Device, DeviceBuffer, Error, ErrorCode, LoadOptions, Plugin, Program, Property,
    Result, Topology, Version,
};

/// Only one test at a time, because objects are counted.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    require_room(0);
    guard
}

fn load(make: Make) -> Result<Plugin> {
    // SAFETY: the table is one of the fake's.
    unsafe { Plugin::from_api("fake", make.leak()) }
}

fn plugin() -> Plugin {
    load(Make::default()).unwrap()
}

fn topology() -> Topology {
    plugin().topology(&"v5e:2x2".parse().unwrap()).unwrap()
}

fn compile(text: &str) -> Result<Compiled> {
    topology().compile(&Program::from_mlir(text.as_bytes()), &CompileOptions::new())
}

fn texts(shapes: Vec<xla_shape::Shape>) -> Vec<String> {
    shapes.iter().map(ToString::to_string).collect()
}

/// The fake as a file.
fn file() -> PathBuf {
    let mut folder = std::env::current_exe().unwrap();
    folder.pop();
    folder.join(format!("{DLL_PREFIX}pjrt_fake{DLL_SUFFIX}"))
}

#[test]
fn tables_that_cannot_be_used_are_refused() {
    let _alone = alone();
    let refused = |make: Make| load(make).unwrap_err().to_string();
    let no = "`fake` cannot be used as a PJRT plug-in: ";
    assert_eq!(
        refused(Make { major: 1, minor: 2, ..Make::default() }),
        "`fake` has version 1.2 of PJRT's interface; this library needs 0.57 or a newer 0.…"
    );
    assert!(refused(Make { minor: 56, ..Make::default() }).contains("version 0.56"));
    assert_eq!(refused(Make { size: 8, ..Make::default() }), format!("{no}its table of functions has only 8 bytes"));
    assert_eq!(refused(Make { circle: true, ..Make::default() }), format!("{no}its list of extensions does not end"));
    let without = Make { without: &["PJRT_Error_Destroy"], ..Make::default() };
    assert_eq!(refused(without), format!("{no}it has no functions for errors"));
    // SAFETY: null is allowed.
    let error = unsafe { Plugin::from_api("fake", std::ptr::null()) }.unwrap_err();
    assert_eq!(error.to_string(), format!("{no}GetPjrtApi returned null"));
    let error = load(Make { locked: true, ..Make::default() }).unwrap_err();
    assert!(matches!(&error, Error::Locked { error } if error.code == ErrorCode::Aborted), "{error}");
    assert!(error.to_string().contains("ALLOW_MULTIPLE_LIBTPU_LOAD=1"), "{error}");
    assert_eq!(live(), 0);
}

#[test]
fn older_and_newer_plugins_work_as_far_as_they_have_the_call() {
    let _alone = alone();
    // A table that ends before the compiler, and one without it.
    let (_, offset) = Api::FUNCTIONS.iter().find(|(name, _)| *name == "PJRT_Compile").unwrap();
    for make in [
        Make { minor: 60, size: *offset, ..Make::default() },
        Make { minor: 60, size: offset + 4, ..Make::default() },
        Make { minor: 60, without: &["PJRT_Compile"], ..Make::default() },
    ] {
        let plugin = load(make).unwrap();
        assert_eq!(plugin.version(), Version { major: 0, minor: 60 });
        let topology = plugin.topology(&"v5e".parse().unwrap()).unwrap();
        assert_eq!(topology.devices().unwrap().len(), 4);
        let error = topology.compile(&Program::from_mlir(b"module {}"), &CompileOptions::new()).unwrap_err();
        assert_eq!(error.to_string(), "the plug-in has no PJRT_Compile; it has version 0.60 of PJRT's interface");
    }
    // A newer plug-in requires longer arguments than these declarations have.
    require_room(24);
    let newer = load(Make { minor: API_MINOR + 9, ..Make::default() }).unwrap();
    let topology = newer.topology(&"v5e".parse().unwrap()).unwrap();
    let compiled = topology.compile(&Program::from_mlir(b"module {}"), &CompileOptions::new()).unwrap();
    assert_eq!(compiled.memory().unwrap().device.total(), 1130);
    assert_eq!(compiled.inputs().unwrap().len(), 2);
    drop((compiled, topology));
    // A plug-in that requires longer arguments although its version is not newer breaks the rules.
    let error = load(Make::default()).unwrap_err();
    assert!(error.to_string().starts_with("PJRT_Plugin_Initialize: Unexpected size"), "{error}");
    require_room(0);
    assert_eq!(live(), 0);
}

#[test]
fn a_plugin_says_what_it_is() {
    let _alone = alone();
    let attributes = plugin().attributes().unwrap();
    assert_eq!(attributes.len(), 5);
    assert_eq!(attributes["text"], Property::Text("fake 1.0".to_owned()));
    assert_eq!(attributes["integer"], Property::Integer(-7));
    assert_eq!(attributes["integers"], Property::Integers(vec![1, 9, 5]));
    assert_eq!(attributes["flops"], Property::Float(1.5));
    assert_eq!(attributes["bool"], Property::Bool(true));
    let topology = topology();
    assert_eq!((topology.platform_name().unwrap().as_str(), topology.name()), ("fake", "v5e:2x2"));
    assert_eq!(topology.platform_version().unwrap(), "v5e:2x2");
    let device = &topology.devices().unwrap()[3];
    assert_eq!((device.id, device.kind.as_str(), device.text.as_str()), (3, "Fake", "FakeDevice(id=3)"));
    assert_eq!(plugin().topology_named("abacus").unwrap_err().plugin_error().unwrap().code, ErrorCode::NotFound);
    let error = plugin().topology_named("fake:null").unwrap_err().to_string();
    assert_eq!(error, "the plug-in's answer to PJRT_TopologyDescription_Create cannot be used: the result is null");
    drop(topology);
    assert_eq!(live(), 0);
}

#[test]
fn default_layouts_are_asked_for() {
    let _alone = alone();
    let topology = topology();
    let layout = |sizes: &[u64]| topology.default_layout(ElementType::F32, sizes).map(|layout| layout.to_string());
    assert_eq!(layout(&[100, 200]).unwrap(), "{0,1:T(8,128)}");
    assert_eq!(layout(&[]).unwrap(), "{:T(128)}");
    assert_eq!(layout(&[0]).unwrap(), "{0}");
    let call = "PJRT_Layouts_PJRT_Topology_GetDefaultLayout";
    let broken = |problem: &str| format!("the plug-in's answer to {call} cannot be used: {problem}");
    assert_eq!(layout(&[666]).unwrap_err().to_string(), broken("a layout is null"));
    assert_eq!(layout(&[667]).unwrap_err().to_string(), broken("{1,0} is not a layout of 1 dimensions"));
    assert!(matches!(layout(&[u64::MAX]).unwrap_err(), Error::Shape(_)));
    assert!(matches!(layout(&[1 << 40, 1 << 40]).unwrap_err(), Error::Shape(_)));
    let without = load(Make { layouts: false, ..Make::default() }).unwrap();
    let without = without.topology(&"v5e".parse().unwrap()).unwrap();
    let error = without.default_layout(ElementType::F32, &[2]).unwrap_err().to_string();
    assert_eq!(error, "the plug-in does not have the extension of PJRT's interface for layouts");
    drop((topology, without));
    assert_eq!(live(), 0);
}

#[test]
fn a_compiled_program_is_described() {
    let _alone = alone();
    let compiled = compile("module {}").unwrap();
    assert_eq!(texts(compiled.inputs().unwrap()), ["f32[100,200]{0,1:T(8,128)}", "bf16[2,200]{1,0:T(2,128)(2,1)}"]);
    assert_eq!(compiled.outputs().unwrap(), compiled.inputs().unwrap());
    assert_eq!(compiled.fingerprint().unwrap(), "01ab");
    assert_eq!(compiled.name().unwrap(), "fake");
    let memory = compiled.memory().unwrap();
    assert_eq!((memory.device.total(), memory.host.total(), memory.peak, memory.generated_code), (1130, 5, 1130, 7));
    assert!(memory.account().exact);
    assert_eq!(compiled.cost().unwrap()["flops"], Property::Float(1.5));
    let shardings = compiled.input_shardings().unwrap().unwrap();
    assert_eq!(shardings.iter().map(ToString::to_string).collect::<Vec<_>>(), ["{replicated}", "{replicated}"]);
    assert_eq!(compiled.output_shardings().unwrap().unwrap(), shardings);
    let module = compiled.module().unwrap();
    assert_eq!((module.name(), module.is_scheduled()), (Some("fake"), true));
    drop(compiled);
    assert_eq!(live(), 0);
}

#[test]
fn hlo_is_compiled_as_its_message() {
    let _alone = alone();
    let text = "HloModule m\nENTRY e { p = s32[7]{0} parameter(0) ROOT n = s32[7]{0} negate(p) }";
    let program = Program::from_bytes(text.replace(") ROOT", ")\nROOT").as_bytes()).unwrap();
    let compiled = topology().compile(&program, &CompileOptions::new().partitions(4)).unwrap();
    assert_eq!(texts(compiled.inputs().unwrap()), ["s32[7]{0:T(128)}"]);
    assert_eq!(compiled.module().unwrap().name(), Some("m"));
    drop(compiled);
    assert_eq!(live(), 0);
}

#[test]
fn wrong_answers_are_errors() {
    let _alone = alone();
    let answer = |call: &str, problem: &str| format!("the plug-in's answer to {call} cannot be used: {problem}");
    let error = compile("module {} // fake:error").unwrap_err();
    assert_eq!(error.to_string(), "PJRT_Compile: the program asks for an error");
    assert_eq!(error.plugin_error().unwrap().code, ErrorCode::InvalidArgument);
    let error = compile("module {} // fake:null").unwrap_err().to_string();
    assert_eq!(error, answer("PJRT_Compile", "the result is null"));
    let parameters = "PJRT_Layouts_PJRT_Executable_GetParameterLayouts";
    let compiled = compile("module {} // fake:no-list").unwrap();
    let error = compiled.inputs().unwrap_err().to_string();
    assert_eq!(error, answer(parameters, "the list of layouts is null"));
    assert_eq!(compiled.input_shardings().unwrap(), None);
    let error = compile("module {} // fake:bad-layout").unwrap().inputs().unwrap_err().to_string();
    assert!(error.starts_with(&answer(parameters, "the layout `{5}`: ")), "{error}");
    let error = compile("module {} // fake:bad-module").unwrap().module().unwrap_err();
    assert!(matches!(error, Error::Message(_)), "{error}");
    let error = compile("module {} // fake:bad-format").unwrap().module().unwrap_err().to_string();
    assert_eq!(error, answer("PJRT_Executable_OptimizedProgram", "its format is `mlir`"));
    drop(compiled);
    assert_eq!(live(), 0);
}

#[test]
fn what_a_plugin_lacks_is_left_out() {
    let _alone = alone();
    let lacks = Make {
        layouts: false,
        shardings: false,
        without: &[
            "PJRT_Executable_OptimizedProgram",
            "PJRT_Executable_Fingerprint",
            "PJRT_Executable_GetCompiledMemoryStats",
            "PJRT_Executable_GetCostAnalysis",
            "PJRT_Plugin_Initialize",
            "PJRT_Plugin_Attributes",
            "PJRT_Error_GetCode",
        ],
        ..Make::default()
    };
    let plugin = load(lacks).unwrap();
    assert!(plugin.attributes().is_err());
    let topology = plugin.topology(&"v5e".parse().unwrap()).unwrap();
    let compiled = topology.compile(&Program::from_mlir(b"module {}"), &CompileOptions::new()).unwrap();
    assert_eq!(texts(compiled.outputs().unwrap()), ["f32[100,200]{1,0}", "bf16[2,200]{1,0}"]);
    assert!(matches!(compiled.inputs(), Err(Error::MissingCall { .. })));
    assert!(matches!(compiled.memory(), Err(Error::MissingCall { .. })));
    assert!(matches!(compiled.fingerprint(), Err(Error::MissingCall { .. })));
    assert!(matches!(compiled.cost(), Err(Error::MissingCall { .. })));
    assert_eq!(compiled.output_shardings().unwrap(), None);
    let error = topology.compile(&Program::from_mlir(b"fake:error"), &CompileOptions::new()).unwrap_err();
    assert_eq!(error.plugin_error().unwrap().code, ErrorCode::Unknown);
    drop((compiled, topology));
    assert_eq!(live(), 0);
}

#[test]
fn whoever_waits_too_long_gets_an_answer() {
    let _alone = alone();
    let begin = Instant::now();
    let options = CompileOptions::new().time_limit(Some(Duration::from_millis(20)));
    let error = topology().compile(&Program::from_mlir(b"module {} // fake:slow"), &options).unwrap_err();
    assert!(matches!(error, Error::TimedOut { call: "PJRT_Compile", .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(2));
    // Objects that arrive too late are destroyed, too.
    while live() > 0 {
        assert!(begin.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_thousand_rounds_leave_nothing_behind() {
    let _alone = alone();
    for _ in 0..1000 {
        let topology = topology();
        topology.default_layout(ElementType::F32, &[3, 5]).unwrap();
        topology.default_layout(ElementType::F8E8M0Fnu, &[3]).unwrap_err();
    }
    let client = Client::new(&plugin()).unwrap();
    for _ in 0..100 {
        let host = DynBuffer::zeroed_with("f32[3,5]".parse().unwrap()).unwrap();
        let buffer = client.devices().unwrap()[0].put(&host.view(), None).unwrap();
        buffer.to_host(&"{0,1}".parse().unwrap()).unwrap();
        buffer.shape().unwrap();
    }
    drop(client);
    assert_eq!(live(), 0);
}

#[test]
fn values_may_go_to_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<(Plugin, Topology, Program, CompileOptions, Compiled)>();
    check::<(Client, Device, DeviceBuffer)>();
    let _alone = alone();
    let client = Client::new(&plugin()).unwrap();
    let buffer = std::thread::scope(|scope| {
        let put = scope.spawn(|| {
            let host = DynBuffer::filled_with::<F32>("f32[3,5]".parse().unwrap(), 7.0).unwrap();
            client.devices().unwrap()[0].put(&host.view(), None).unwrap()
        });
        put.join().unwrap()
    });
    drop(client);
    let back = std::thread::spawn(move || buffer.to_host(&"{0,1}".parse().unwrap()).unwrap()).join().unwrap();
    assert_eq!(back.get::<F32>(&[2, 4]).unwrap(), 7.0);
    assert_eq!(live(), 0);
}

#[test]
fn compilers_are_asked_from_several_threads() {
    let _alone = alone();
    let topology = topology();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let compiled = topology.compile(&Program::from_mlir(b"module {}"), &CompileOptions::new()).unwrap();
                    assert_eq!(compiled.inputs().unwrap().len(), 2);
                }
            });
        }
    });
    drop(topology);
    assert_eq!(live(), 0);
}

#[test]
fn arrays_go_to_a_device_and_come_back_in_the_layout_that_is_wanted() {
    let _alone = alone();
    let client = Client::new(&plugin()).unwrap();
    assert_eq!(
        (client.platform_name().unwrap().as_str(), client.platform_version().unwrap().as_str()),
        ("fake", "1.0")
    );
    let devices = client.devices().unwrap();
    assert_eq!((devices.len(), devices[1].description().id), (2, 1));
    let value = |index: &[usize]| (index[0] * 10 + index[1]) as f32;
    for from in ["f32[3,5]{1,0}", "f32[3,5]{0,1}", "f32[3,5]{1,0:T(2,2)}"] {
        let host = DynBuffer::from_fn_with::<F32>(from.parse().unwrap(), value).unwrap();
        let buffer = devices[0].put(&host.view(), None).unwrap();
        buffer.wait().unwrap();
        assert_eq!(buffer.shape().unwrap().to_string(), "f32[3,5]{1,0:T(4,128)}");
        assert_eq!(buffer.byte_size().unwrap(), 60);
        // The plug-in refuses tiles of three rows. Layouts that it refuses, or that have more than an order and tiles, are made by the library.
        for to in ["{1,0}", "{0,1}", "{1,0:T(2,2)}", "{1,0:T(3,2)}", "{1,0:T(*,4)}", "{1,0:T(8,128)L(2048)}"] {
            let back = buffer.to_host(&to.parse().unwrap()).unwrap();
            assert_eq!(back.shape().layout().to_string(), to);
            for (row, column) in (0..3).flat_map(|row| (0..5).map(move |column| (row, column))) {
                assert_eq!(back.get::<F32>(&[row, column]).unwrap(), value(&[row, column]), "{from} {to}");
            }
        }
        assert!(buffer.to_host(&"{0}".parse().unwrap()).is_err());
    }
    let host = DynBuffer::from_fn_with::<F32>("f32[3,5]".parse().unwrap(), value).unwrap();
    let tiled = devices[1].put(&host.view(), Some(&"{0,1:T(2,4)}".parse().unwrap())).unwrap();
    assert_eq!(tiled.shape().unwrap().to_string(), "f32[3,5]{0,1:T(2,4)}");
    assert!(devices[1].put(&host.view(), Some(&"{1,0:E(64)}".parse().unwrap())).is_err());
    drop((tiled, devices, client));
    assert_eq!(live(), 0);
}

#[test]
fn narrow_empty_and_failed_arrays() {
    let _alone = alone();
    let client = Client::new(&plugin()).unwrap();
    let device = client.devices().unwrap().swap_remove(0);
    // Elements are packed in this array; in the interface, each takes a whole byte.
    let packed = "s4[3,4]{1,0:E(4)}".parse().unwrap();
    let host = DynBuffer::from_fn_with::<S4>(packed, |index| S4::new(index[1] as i8 - 2).unwrap()).unwrap();
    let buffer = device.put(&host.view(), None).unwrap();
    let back = buffer.to_host(&"{0,1:E(4)}".parse().unwrap()).unwrap();
    assert_eq!(back.get::<S4>(&[2, 0]).unwrap(), S4::new(-2).unwrap());
    let empty = DynBuffer::zeroed_with("f32[0,3]".parse().unwrap()).unwrap();
    let empty = device.put(&empty.view(), None).unwrap();
    assert_eq!(empty.to_host(&"{1,0}".parse().unwrap()).unwrap().as_bytes(), [0_u8; 0]);
    let unlucky = DynBuffer::filled_with::<S32>("s32[13]".parse().unwrap(), 1).unwrap();
    let unlucky = device.put(&unlucky.view(), None).unwrap();
    assert!(unlucky.wait().unwrap_err().to_string().contains("13 is unlucky"));
    assert!(unlucky.to_host(&"{0}".parse().unwrap()).unwrap_err().to_string().contains("13 is unlucky"));
    drop((buffer, empty, unlucky, device, client));
    assert_eq!(live(), 0);
}

#[test]
fn a_plugin_is_loaded_from_its_file_once() {
    let _alone = alone();
    let limit = Duration::from_secs(3);
    let options = LoadOptions::new().time_limit(Some(limit));
    // SAFETY: the fake is a plug-in.
    let load = || unsafe { options.load(file()) }.unwrap();
    let plugin = load();
    assert_eq!(plugin.path().unwrap(), file().canonicalize().unwrap());
    assert_eq!(load().version(), plugin.version());
    let topology = plugin.topology(&"v6e".parse().unwrap()).unwrap();
    assert_eq!(topology.default_layout(ElementType::F32, &[8]).unwrap().to_string(), "{0:T(128)}");
    let error = plugin.topology_named("fake:never").unwrap_err();
    assert!(matches!(error, Error::TimedOut { call: "PJRT_TopologyDescription_Create", .. }), "{error}");
    // Tests have other threads, which may read the environment.
    assert!(options.variables().any(|(name, _)| name == "TPU_SKIP_MDS_QUERY"));
    // SAFETY: there is no such file.
    let missing = unsafe { Plugin::load("no/such/file.so") }.unwrap_err().to_string();
    assert!(missing.starts_with("cannot load the plug-in `no/such/file.so`: "), "{missing}");
    // SAFETY: a text has no code.
    let no_library = unsafe { Plugin::load(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")) };
    assert!(matches!(no_library.unwrap_err(), Error::Load { .. }));
}

#[test]
fn a_build_compiles_and_falls_back() {
    let _alone = alone();
    let folder = std::env::temp_dir().join(format!("xla-shape-pjrt-build-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (program, module, out) = (folder.join("p.mlir"), folder.join("checked_in.hlo"), folder.join("out/p.hlo"));
    std::fs::write(&program, "module {}").unwrap();
    let compile = Compile::new(&program, "v5e:2x2").or_checked_in(&module);
    let present = compile.clone().plugin(file());
    // SAFETY: the fake is a plug-in. If there is no file, nothing is loaded.
    let write = |compile: &Compile| unsafe { compile.write_into(&out) };
    // Nothing is checked in yet.
    let written = write(&present).unwrap();
    assert_eq!(written.source, Source::Compiled { fingerprint: "01ab".to_owned() });
    assert!(written.outdated.unwrap().contains("XLA_SHAPE_UPDATE=1"));
    std::fs::copy(&out, &module).unwrap();
    let written = write(&present).unwrap();
    assert_eq!((written.source, written.outdated), (Source::Cached { fingerprint: "01ab".to_owned() }, None));
    // A changed program is compiled again.
    std::fs::write(&program, "module {} // changed").unwrap();
    assert!(matches!(write(&present).unwrap().source, Source::Compiled { .. }));
    // A layout that differs from the checked-in module is reported.
    let text = std::fs::read_to_string(&module).unwrap();
    std::fs::write(&module, text.replace("f32[100,200]{1,0}", "f32[100,200]{0,1}")).unwrap();
    let outdated = write(&present).unwrap().outdated.unwrap();
    assert!(
        outdated.contains("parameter 0 was f32[100,200]{0,1}, the compiler now chooses f32[100,200]{1,0}"),
        "{outdated}"
    );
    // Without a compiler, the checked-in module is used; without one either, there is an error.
    let absent = compile.plugin(folder.join("no.so"));
    let written = write(&absent).unwrap();
    assert!(matches!(written.source, Source::CheckedIn { .. }), "{written:?}");
    assert_eq!(std::fs::read(&out).unwrap(), std::fs::read(&module).unwrap());
    let neither = Compile::new(&program, "v5e:2x2").plugin(folder.join("no.so"));
    assert!(write(&neither).is_err());
    // A program that the compiler refuses is an error even if there is a checked-in module.
    std::fs::write(&program, "module {} // fake:error").unwrap();
    let error = write(&present).unwrap_err().to_string();
    assert!(error.ends_with("p.mlir: PJRT_Compile: the program asks for an error"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
